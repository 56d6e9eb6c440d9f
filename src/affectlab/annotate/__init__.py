"""Annotation by people: designs, a store, the web app, adjudication, quality, exchange.

Needs ``affectlab[annotate]``. What is asked is data (:mod:`affectlab.annotate.design`); what lies between the store and
the pages is pure functions.
"""

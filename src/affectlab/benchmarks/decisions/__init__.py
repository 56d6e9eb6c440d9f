"""Emotion-sensitive decisions (arXiv 2604.06562): do choices in games move when an emotion is induced?"""

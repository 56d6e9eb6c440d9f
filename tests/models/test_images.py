"""Image files themselves, and how remote and scripted models take them."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path

import pytest
from tests.support import tiny_vision
from tests.support.openai_server import serving

from affectlab.errors import UserError
from affectlab.models import Message, ModelSettings, Request, Response, Sampling, images, open_model
from affectlab.models.remote import RemoteModel

pytest.importorskip("PIL", reason="the pictures are made by pillow")


def _request(*paths: str, item: str = "s1", **fields: object) -> Request:
    said = (Message("system", "Look."), Message("user", "How does Ada feel?", paths))
    return Request(item, "A", said, sampling=Sampling(max_tokens=3), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["png", "jpeg", "gif", "webp"])
def test_a_file_is_known_by_what_is_in_it(kind: str, tmp_path: Path) -> None:
    path = tiny_vision.picture(tmp_path / f"a.{kind}")
    hidden = tmp_path / "picture.dat"
    hidden.write_bytes(Path(path).read_bytes())
    start, _, data = images.data_url(str(hidden)).partition(",")
    assert start == f"data:image/{kind};base64"
    assert base64.b64decode(data) == hidden.read_bytes()
    assert images.picture(str(hidden)).mode == "RGB"
    assert images.picture(str(hidden)).size == (24, 20)


def test_a_picture_is_turned_the_way_its_camera_was_held(tmp_path: Path) -> None:
    from PIL import Image

    turned = Image.new("RGB", (24, 20))
    notes = turned.getexif()
    notes[0x0112] = 6  # orientation: turn by a quarter
    turned.save(tmp_path / "a.jpg", exif=notes)
    assert images.picture(str(tmp_path / "a.jpg")).size == (20, 24)


def test_the_digest_follows_the_bytes(tmp_path: Path) -> None:
    path = tiny_vision.picture(tmp_path / "a.png")
    first = images.sha256(path)
    assert first == hashlib.sha256(Path(path).read_bytes()).hexdigest() == images.sha256(path)
    tiny_vision.picture(Path(path), seed=1)
    os.utime(path, ns=(1, 1))  # a clock too coarse to tell two writes apart is not what is tested
    assert images.sha256(path) == hashlib.sha256(Path(path).read_bytes()).hexdigest() != first


def test_files_that_cannot_be_shown_are_named(tmp_path: Path) -> None:
    text, empty = tmp_path / "a.png", tmp_path / "b.png"
    text.write_text("no picture", encoding="utf-8")
    empty.touch()
    for path, message in (
        (tmp_path / "none.png", r"There is no image \S*none\.png\. Item 's1', step 'A', brings it"),
        (tmp_path, "is a folder, not an image"),
        (text, r"a\.png is no PNG, JPEG, GIF or WebP image\. .* Item 's1'"),
        (empty, r"b\.png is empty"),
        (Path("nul\0.png"), "cannot be read"),
    ):
        with pytest.raises(UserError, match=message):
            images.check([_request(), _request(str(path)), _request(str(path), item="s2")])


def test_a_damaged_or_enormous_picture_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import Image

    path = Path(tiny_vision.picture(tmp_path / "a.png"))
    whole = path.read_bytes()
    path.write_bytes(whole[:200])
    with pytest.raises(UserError, match=r"The image \S*a\.png is damaged"):
        images.picture(str(path))
    path.write_bytes(whole)
    for most in (300, 100):  # 480 pixels: more than allowed, which is a warning, and more than twice as many
        monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", most)
        with pytest.raises(UserError, match=r"a\.png has too many pixels"):
            images.picture(str(path))


@pytest.fixture
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-1")


@pytest.mark.usefixtures("_key")
def test_a_remote_model_is_sent_data_urls_before_the_text(tmp_path: Path) -> None:
    one, two = tiny_vision.picture(tmp_path / "a.png"), tiny_vision.picture(tmp_path / "b.jpeg", seed=1)
    silent = Request("s2", "A", (Message("user", "", (two,)),))
    with serving() as server:
        model = RemoteModel("fake-1", ModelSettings(base_url=server.url, concurrency=1))
        answers = dict(model.respond([_request(one, two), silent, _request(item="s3")]))
        model.close()
    assert all(isinstance(answer, Response) for answer in answers.values())
    system, user = server.bodies[0]["messages"]
    assert system == {"role": "system", "content": "Look."}
    assert user == {
        "role": "user",
        "content": [
            {"type": "image_url", "image_url": {"url": f"data:image/{kind};base64,{_base64(path)}"}}
            for kind, path in (("png", one), ("jpeg", two))
        ]
        + [{"type": "text", "text": "How does Ada feel?"}],
    }
    assert [part["type"] for part in server.bodies[1]["messages"][0]["content"]] == ["image_url"]
    assert server.bodies[2]["messages"][1] == {"role": "user", "content": "How does Ada feel?"}


def _base64(path: str) -> str:
    return base64.b64encode(Path(path).read_bytes()).decode()


@pytest.mark.usefixtures("_key")
def test_a_remote_model_is_asked_nothing_when_an_image_is_missing() -> None:
    with serving() as server:
        model = RemoteModel("fake-1", ModelSettings(base_url=server.url))
        with pytest.raises(UserError, match=r"There is no image /nowhere/a\.png\. Item 's2'"):
            list(model.respond([_request(), _request("/nowhere/a.png", item="s2")]))
        model.close()
    assert not server.bodies


def test_a_scripted_model_takes_images(tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text('{"item": "*", "reply": "A"}\n', encoding="utf-8")
    ((_, answer),) = open_model(f"scripted:{script}").respond([_request(tiny_vision.picture(tmp_path / "a.png"))])
    assert isinstance(answer, Response)
    assert answer.text == "A"

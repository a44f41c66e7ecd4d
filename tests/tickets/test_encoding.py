"""Files in the encodings of other scripts: found by what they hold, told, and changeable."""

from __future__ import annotations

import json
import time

import pytest

from lib.tickets import guess_columns
from lib.tickets.encoding import ENCODINGS, find_encoding
from lib.tickets.readers import guessed_encoding, read_choices, read_table

TEXTS = {
    "Japanese": "番号,件名,本文\n0071,荷物が届かない,注文した商品がまだ届きません。追跡番号は更新されていません。\n"
                "72,二重請求,カードに同じ金額が二回請求されています。返金してください。\n",
    "Chinese": "编号,主题,内容\n0071,包裹没到,我的订单还没有到达。物流信息没有更新。\n"
               "72,重复扣款,我的卡被扣了两次款。请退款。\n",
    "Taiwanese": "編號,主題,內容\n0071,包裹沒到,我的訂單還沒有到達。\n72,重複扣款,我的卡被扣了兩次款請退款。\n",
    "Korean": "번호,제목,내용\n0071,택배가 안 왔어요,주문한 상품이 아직 도착하지 않았습니다.\n"
              "72,이중 청구,카드에서 두 번 결제되었습니다. 환불해 주세요.\n",
    "Russian": "номер,тема,текст\n0071,Посылка не пришла,Мой заказ до сих пор не пришёл. Помогите.\n"
               "72,Списали дважды,С моей карты списали деньги дважды. Верните один платёж.\n",
    "Greek": "αριθμός,θέμα,κείμενο\n0071,Το δέμα δεν ήρθε,Η παραγγελία μου δεν έχει φτάσει ακόμα.\n",
    "Arabic": "رقم,موضوع,نص\n0071,لم يصل الطرد,طلبي لم يصل بعد ولم يتم تحديث التتبع.\n",
}
CODECS = {"Japanese": ("shift_jis", "cp932", "euc_jp", "iso2022_jp"), "Chinese": ("gbk", "gb18030"),
          "Taiwanese": ("big5",), "Korean": ("euc_kr",), "Greek": ("iso8859_7", "cp1253"), "Arabic": ("cp1256",),
          "Russian": ("cp1251", "koi8_r", "cp866", "iso8859_5", "mac_cyrillic")}
POLISH = "numer;temat;treść\n0071;Paczka nie dotarła;Moje zamówienie wciąż nie dotarło, proszę o pomoc.\n"
WESTERN = [
    "id;sujet;texte\n1;Colis;Le colis n’est pas arrivé, où est-il ? C’est très énervant, déjà payé.\n",
    "Nr;Betreff;Text\n1;Paket fehlt;„Müller“ wartet auf die Lieferung, für 49,90 € bezahlt.\n",
    "id;texto\n1;¿Dónde está mi pedido? No llegó todavía. Mañana llamaré…\n", "id;body\n1;Größe falsch\n",
]


@pytest.mark.parametrize(("script", "codec"), [(script, codec) for script in CODECS for codec in CODECS[script]])
@pytest.mark.parametrize("kind", ["csv", "json in one line among plain keys"])
def test_texts_of_other_scripts_are_read_as_they_were_written(script, codec, kind):
    text = TEXTS[script]
    lines = [line.split(",", 2) for line in text.splitlines()]
    if kind == "csv":
        table = read_table("a.csv", text.encode(codec))
    else:
        rows = [{"ticket_identifier": row[0], "subject_of_the_ticket": row[1], "description_text": row[2],
                 "created_at_timestamp": "2026-10-01T00:00:00"} for row in lines]
        table = read_table("a.json", json.dumps(rows, ensure_ascii=False).encode(codec))
    row = table.rows[-len(lines) + 1]
    assert list(row[:3]) == lines[1]
    assert any("read as" in note for note in table.notes)


@pytest.mark.parametrize("script", ["Japanese", "Chinese", "Taiwanese", "Korean", "Russian"])
def test_the_text_is_found_though_its_words_stand_without_spaces(script):
    table = read_table("a.csv", TEXTS[script].encode())
    assert guess_columns(table).body == table.columns[2]


@pytest.mark.parametrize("text", WESTERN)
def test_western_texts_are_still_taken_for_windows_1252(text):
    assert find_encoding("a.csv", text.encode("cp1252")).codec == "cp1252"


def test_western_texts_with_a_word_of_another_script_stay_western():
    text = WESTERN[1] * 40 + "9;Gruß;ÄÖÜ ÄÖÜ\n"
    assert find_encoding("a.csv", text.encode("cp1252")).codec == "cp1252"


def test_an_encoding_that_no_rule_finds_can_be_chosen():
    data = POLISH.encode("cp1250")
    assert guessed_encoding(data) == "cp1252" and "dotar³a" in str(read_table("a.csv", data).rows)
    [table] = read_choices("a.csv", data, "cp1250").values()
    assert list(table.rows[0][1:]) == ["Paczka nie dotarła", "Moje zamówienie wciąż nie dotarło, proszę o pomoc."]
    assert "read as Central European (Windows-1250), as chosen" in table.notes
    assert guess_columns(table).id == "numer"


@pytest.mark.parametrize("codec", ENCODINGS)
@pytest.mark.parametrize("data", [b"id,body\n1,caf\xe9\x81\xff\x8e\x1b$B\n", "id,body\n1,Größe 日本語\n".encode(),
                                  '[{"id": "1", "body": "ä"}]'.encode("cp1252")])
def test_whatever_is_chosen_reads_a_table_and_tells_what_it_could_not(data, codec):
    [table] = read_choices("a", data, codec).values()
    assert len(table.rows) == 1 and any("as chosen" in note for note in table.notes)
    assert any("damaged" in note for note in table.notes) == ("\N{REPLACEMENT CHARACTER}" in str(table))


@pytest.mark.parametrize("data", [b"id,body\n1,plain\n", "id,body\n1,Größe\n".encode(), b"", b"PAR1", b"PK\x03\x04",
                                  "id,body\n1,Größe\n".encode("utf-16"), "id,body\n1,Größe\n".encode("utf-8-sig")])
def test_what_says_its_encoding_leaves_nothing_to_choose(data):
    assert guessed_encoding(data) == ""


def test_looking_for_another_script_takes_no_time_on_a_hostile_text():
    began = time.perf_counter()
    for text in (b"a" * 2_000_000 + b"\xe9", b"\xe9a" * 1_000_000, b"\xe9\xe9" + b"a" * 2_000_000, b"\xe9" * 2_000_000,
                 b"a" * 4_000_000 + b" " + "日本語".encode("cp932") * 2_000):
        find_encoding("a.csv", text)
    assert time.perf_counter() - began < 20

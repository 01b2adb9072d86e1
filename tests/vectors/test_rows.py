"""Vectors from arrays and files: what is refused, and by which name."""

import math

import numpy as np
import pytest

from symshuffle.base.errors import InputError
from symshuffle.vectors.means import rows
from symshuffle.vectors.means.rows import array_rows, file_rows, survey


@pytest.fixture
def vectors():
    x = np.random.default_rng(5).standard_normal((50, 3))
    return x / (np.linalg.norm(x, axis=1, keepdims=True) * 1.1)


def written(path, text):
    path.write_text(text)
    return path


def test_array_npy_and_csv_agree_whatever_the_blocks(tmp_path, vectors, monkeypatch):
    np.save(tmp_path / "x.npy", vectors)
    np.savetxt(tmp_path / "x.csv", vectors, delimiter=",", header="a,b,c", comments="")
    expected = vectors.mean(axis=0)
    for entries in (1, 12, 1 << 20):
        monkeypatch.setattr(rows, "BLOCK_ENTRIES", entries)
        for source in (array_rows(vectors), file_rows(tmp_path / "x.npy"), file_rows(tmp_path / "x.csv")):
            count, mean, mean_square, _ = survey(source)
            assert count == 50
            np.testing.assert_allclose(mean, expected, rtol=1e-12)
            assert mean_square == pytest.approx((vectors**2).sum() / 50)


def test_fortran_order_and_integers_are_read(tmp_path):
    np.save(tmp_path / "x.npy", np.asfortranarray([[1, 0], [0, 1], [0, 0]]))
    assert survey(file_rows(tmp_path / "x.npy"))[1].tolist() == [1 / 3, 1 / 3]


def test_a_long_row_is_named_with_its_norm(tmp_path, vectors, monkeypatch):
    monkeypatch.setattr(rows, "BLOCK_ENTRIES", 6)
    vectors[17] = [0.8, 0.8, 0]
    np.save(tmp_path / "x.npy", vectors)
    np.savetxt(tmp_path / "x.csv", vectors, delimiter=",", header="a,b,c", comments="")
    with pytest.raises(InputError, match=r"data\[17\] = norm 1\.13137084\d+: expected a vector of length at most 1"):
        survey(array_rows(vectors))
    with pytest.raises(InputError, match=r"x\.npy, row 18 = norm 1\.131"):
        survey(file_rows(tmp_path / "x.npy"))
    with pytest.raises(InputError, match=r"x\.csv, line 19 = norm 1\.131"):
        survey(file_rows(tmp_path / "x.csv"))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused(vectors, bad):
    vectors[3, 1] = bad
    with pytest.raises(InputError, match=r"data\[3\], column 2 = .*finite"):
        survey(array_rows(vectors))


@pytest.mark.parametrize(
    "data", [[[1, 2], [3]], np.zeros((0, 3)), np.zeros((3, 0)), np.zeros(3), [["a", "b"]], np.zeros((2, 2), complex)]
)
def test_what_is_no_matrix_of_reals_is_refused(data):
    with pytest.raises(InputError, match="data"):
        array_rows(data)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "at least one line"),
        ("a,b\n", "at least one line"),
        ("0,0\n0\n", ".*, line 2 = 1 numbers: expected 2"),
        ("0,0\n0,x\n", ".*, line 2, column 2 = 'x'"),
        ("0,0\n\n0,0\n", ".*, line 2 = empty"),
        ("0,0\n0,nan\n", ".*, line 2, column 2 = nan"),
        ("0,\n", ".*, line 1, column 2 = "),
    ],
)
def test_bad_csv_is_refused(tmp_path, text, match):
    with pytest.raises(InputError, match=match):
        survey(file_rows(written(tmp_path / "x.csv", text)))


def test_bad_files_are_refused(tmp_path):
    np.save(tmp_path / "objects.npy", np.array([[{}]]), allow_pickle=True)
    (tmp_path / "empty.npy").touch()
    (tmp_path / "x.npy").write_bytes(b"not an array")
    (tmp_path / "latin.csv").write_bytes("é,1\n".encode("latin-1"))
    for name in ("objects.npy", "empty.npy", "x.npy", "latin.csv", "missing.csv", "x.txt", "."):
        with pytest.raises(InputError):
            file_rows(tmp_path / name)


def test_empty_lines_at_the_end_are_no_rows(tmp_path):
    assert survey(file_rows(written(tmp_path / "x.csv", "0.5,0\n0,0.5\n\n\n")))[0] == 2


def test_rows_of_every_kind_of_file_are_named_alike(tmp_path):
    """The place of an entry that is no number: file, line or row from 1 on, and column from 1 on."""
    np.save(tmp_path / "x.npy", np.array([[0.1, 0.2], [0.3, math.nan]]))
    (tmp_path / "x.csv").write_text("0.1,0.2\n0.3,nan\n", encoding="utf-8")
    for name, place in (("x.npy", "row 2"), ("x.csv", "line 2")):
        with pytest.raises(InputError) as caught:
            survey(file_rows(tmp_path / name))
        assert caught.value.argument == f"{tmp_path / name}, {place}, column 2"


@pytest.mark.parametrize("cells", [1, 2])
def test_numbers_of_columns_that_may_be_a_vector_are_refused_unless_it_is_said(tmp_path, cells):
    names, row = ",".join(map(str, range(cells))), ",".join(["0.5"] * cells)
    file = written(tmp_path / "x.csv", f"{names}\n{row}\n{row}\n")
    with pytest.raises(InputError, match=rf"x\.csv, line 1 = {names}: expected names of columns"):
        file_rows(file)
    assert [survey(file_rows(file, header))[0] for header in (True, False)] == [2, 3]
    spelled = ",".join(f"+0{y}" for y in range(cells))
    with pytest.raises(InputError, match=r"x\.csv, line 1 = \+00.*: expected names of columns"):
        file_rows(written(tmp_path / "x.csv", f"{spelled}\n{row}\n"))
    commented = written(tmp_path / "c.csv", f"# made by us\n{names}\n{row}\n")
    with pytest.raises(InputError, match="line 2 = 0"):
        file_rows(commented)
    assert survey(file_rows(commented, True))[0] == 1
    assert survey(file_rows(written(tmp_path / "one.csv", names)))[0] == 1


def test_first_lines_of_vectors_are_those_of_matrices(tmp_path):
    named = {"0,1,2": True, "00,+1,02": True, "a,b,c": True, "0.0,0.1,0.2": False, "0,1,0": False}
    for first, header in named.items():
        found = file_rows(written(tmp_path / "x.csv", f"{first}\n0.1,0.2,0.3\n"))
        assert (found.header, survey(found)[0]) == (header, 1 if header else 2)
    np.save(tmp_path / "x.npy", np.zeros((2, 3)))
    assert file_rows(tmp_path / "x.npy", False).header is None
    for header in (True, "no"):
        with pytest.raises(InputError, match="header"):
            file_rows(tmp_path / "x.npy", header)

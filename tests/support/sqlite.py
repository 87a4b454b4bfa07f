"""SQLite's own library with the extension loaded, whatever Python's sqlite3 was built to allow.

A process that is to be killed imports this, so it imports nothing that takes time.
"""

import ctypes
import ctypes.util
import functools

ROW, DONE = 100, 101
INTEGER, FLOAT, TEXT, BLOB, NULL = range(1, 6)
CONSTRAINT = 19


@functools.cache
def sqlite():
    """The library; OSError without it."""
    try:
        found = ctypes.CDLL("libsqlite3.so.0")
    except OSError:  # what asks for it by its name on any machine takes long
        found = ctypes.CDLL(ctypes.util.find_library("sqlite3") or "sqlite3")
    pointer, wide = ctypes.c_void_p, ctypes.c_int64
    for name, result, arguments in [
        ("errmsg", ctypes.c_char_p, [pointer]),
        ("column_int64", wide, [pointer, ctypes.c_int]),
        ("column_double", ctypes.c_double, [pointer, ctypes.c_int]),
        ("column_blob", pointer, [pointer, ctypes.c_int]),
        ("bind_int64", ctypes.c_int, [pointer, ctypes.c_int, wide]),
        ("bind_double", ctypes.c_int, [pointer, ctypes.c_int, ctypes.c_double]),
        ("last_insert_rowid", wide, [pointer]),
    ]:
        call = getattr(found, f"sqlite3_{name}")
        call.restype, call.argtypes = result, arguments
    return found


def is_complete(statement):
    """Whether the text ends a statement; within a trigger the first semicolon does not."""
    return bool(sqlite().sqlite3_complete(statement.encode()))


class Error(Exception):
    """What SQLite says, and its extended code."""

    def __init__(self, words, code):
        super().__init__(words)
        self.code = code


class Connection:
    """A database with the extension."""

    def __init__(self, path, loaded):
        self.db = ctypes.c_void_p()
        self._check(sqlite().sqlite3_open(str(path).encode(), ctypes.byref(self.db)))
        sqlite().sqlite3_busy_timeout(self.db, 20_000)
        sqlite().sqlite3_enable_load_extension(self.db, 1)
        self.load(loaded)

    def load(self, path):
        self._check(sqlite().sqlite3_load_extension(self.db, str(path).encode(), None, None))

    def close(self):
        self._check(sqlite().sqlite3_close(self.db))
        self.db = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __call__(self, sql, *values):
        """The rows that a statement, or the last of several, answers."""
        rows, rest = [], sql.encode()
        while rest.strip():
            statement, tail = ctypes.c_void_p(), ctypes.c_char_p()
            text = ctypes.create_string_buffer(rest)
            self._check(
                sqlite().sqlite3_prepare_v2(
                    self.db, text, -1, ctypes.byref(statement), ctypes.byref(tail)
                )
            )
            rest = tail.value
            if statement:
                rows = self._run(statement, values)
        return rows

    def many(self, sql, rows):
        """Run one statement with each of many rows of values."""
        statement = ctypes.c_void_p()
        self._check(
            sqlite().sqlite3_prepare_v2(self.db, sql.encode(), -1, ctypes.byref(statement), None)
        )
        for values in rows:
            self._bind(statement, values)
            code = sqlite().sqlite3_step(statement)
            failed = None if code in (ROW, DONE) else self._error()
            sqlite().sqlite3_reset(statement)
            if failed:
                sqlite().sqlite3_finalize(statement)
                raise failed
        sqlite().sqlite3_finalize(statement)

    def one(self, sql, *values):
        """The one value that a statement answers."""
        ((value,),) = self(sql, *values)
        return value

    def _run(self, statement, values):
        self._bind(statement, values)
        rows = []
        while (code := sqlite().sqlite3_step(statement)) == ROW:
            rows.append(
                tuple(
                    self._column(statement, i)
                    for i in range(sqlite().sqlite3_column_count(statement))
                )
            )
        failed = None if code == DONE else self._error()
        sqlite().sqlite3_finalize(statement)
        if failed:
            raise failed
        return rows

    def _bind(self, statement, values):
        for i, value in enumerate(values, 1):
            if value is None:
                sqlite().sqlite3_bind_null(statement, i)
            elif isinstance(value, int):
                sqlite().sqlite3_bind_int64(statement, i, value)
            elif isinstance(value, float):
                sqlite().sqlite3_bind_double(statement, i, value)
            else:
                data = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
                kind = "blob" if isinstance(value, bytes) else "text"
                bind = getattr(sqlite(), f"sqlite3_bind_{kind}")
                self._check(bind(statement, i, data, len(data), ctypes.c_void_p(-1)))

    def _column(self, statement, i):
        kind = sqlite().sqlite3_column_type(statement, i)
        if kind == INTEGER:
            return sqlite().sqlite3_column_int64(statement, i)
        if kind == FLOAT:
            return sqlite().sqlite3_column_double(statement, i)
        if kind == NULL:
            return None
        p = sqlite().sqlite3_column_blob(statement, i)
        data = ctypes.string_at(p, sqlite().sqlite3_column_bytes(statement, i)) if p else b""
        return data if kind == BLOB else data.decode("utf-8", "surrogatepass")

    def _error(self):
        words = sqlite().sqlite3_errmsg(self.db).decode()
        return Error(words, sqlite().sqlite3_extended_errcode(self.db))

    def _check(self, code):
        if code:
            raise self._error()

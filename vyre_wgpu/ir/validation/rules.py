"""Every rule of the IR: its stable code and what it asks for, in one line.

Codes are never reused: E1xx structure, E2xx types, E3xx scopes, E4xx buffers and sizes, E5xx
control flow and barriers, E6xx limits. The documentation's table of rules is made from this one.
"""

from __future__ import annotations

__all__ = [
    "MAX_BINDINGS",
    "MAX_NAME_BYTES",
    "MAX_NESTING",
    "MAX_OPERATIONS",
    "MAX_PROBLEMS",
    "MAX_ROWS",
    "MAX_WORKGROUP_AXIS",
    "RULES",
]

MAX_OPERATIONS = 100_000
"""Most rows that compute or act; leaves, names, plain loads and stores do not count."""
MAX_ROWS = 500_000
"""Most rows in all."""
MAX_NESTING = 64
"""Most blocks inside each other."""
MAX_BINDINGS = 1_000
"""Most buffers and params together."""
MAX_WORKGROUP_AXIS = 1 << 16
"""Most lanes of a workgroup on one axis; an adapter's own limit is met at compile."""
MAX_NAME_BYTES = 255
"""Longest name of a buffer or param, in UTF-8."""
MAX_PROBLEMS = 100
"""Most problems listed for one program."""

RULES: dict[str, str] = {
    # Structure. Most of these only bytes from elsewhere can break; a builder cannot.
    "E101": "An `else` directly follows the block of an `if`, once.",
    "E102": "Every block is closed; `build()` is called outside of all blocks.",
    "E103": "An `end` closes an open block.",
    "E104": "A `while` has exactly one `do`, directly in its own block, after its condition.",
    "E105": "An operand is the number of an earlier row.",
    "E106": "A row has exactly the operands that its operation takes.",
    "E107": "An operand is a row that yields a value.",
    "E108": "A row refers to a literal, param, buffer or tag that exists, if its operation does.",
    "E109": "An axis is 0, 1 or 2.",
    "E110": "A workgroup has three sizes of at least 1.",
    "E111": "A variable's row is used by `get` and `assign` only, and these take only such a row.",
    "E112": "Operation and type codes are known.",
    "E113": "Debug information refers to rows and source locations that exist.",
    # Types
    "E201": "Operands of one operation have one type; nothing is promoted.",
    "E202": "A literal is representable in its type.",
    "E203": "An operation takes only the types that its row of the operation table names.",
    "E204": "A condition is a bool.",
    "E205": "An index is an integer.",
    "E206": "A row has the type that its operation yields.",
    "E207": "What is stored, or given to an atomic, has the buffer's element type.",
    "E208": "What is assigned to a variable, its first value too, has the variable's type.",
    "E209": "The two choices of a `select` have one type.",
    "E210": "A shift or rotate count is u32 or of the value's type.",
    "E211": "A bitcast is between numeric types of one width.",
    "E212": "Atomics work on u32, i32, u64 and i64; `atomic_add` on f32 too.",
    "E213": "`/` divides floats; `//`, `trunc_div` and `rem` divide integers.",
    "E214": "A trap's address is an integer of at most 32 bits.",
    # Scopes
    "E301": "Values, buffers and sizes belong to the program's own builder.",
    "E302": "A value is used in the block that computes it, or in one inside that.",
    "E303": "A local has a name that no local open at that point has.",
    "E304": "A local has a name that no buffer and no param has.",
    # Buffers and sizes
    "E401": "Buffers and params have different names.",
    "E402": "The name of a buffer or param is 1 to 255 bytes of UTF-8 without NUL.",
    "E403": "Names of locals, trap tags, comments and the program's name are valid Unicode.",
    "E404": "An output is sized by `count=` or `like=`.",
    "E405": "A scratch buffer is sized by `count=`.",
    "E406": "The count of a carry, workgroup or private buffer is an integer of at least 1.",
    "E407": "A constant count is from 0 to 4294967295.",
    "E408": "A size expression is a table of known operations on earlier nodes.",
    "E409": "A size uses the lengths of buffers that exist and are no workgroup or private memory.",
    "E410": "A count uses only lengths known before it: of host inputs of any length or of buffers "
    "declared earlier.",
    "E411": "A size uses only params that exist and are integers.",
    "E412": "A size is not divided by the constant zero.",
    "E413": "A constant in a size fits 64 bits, signed.",
    "E414": "`like=` is for outputs, names an earlier storage buffer, and gives its length.",
    "E415": "Stores and atomics go to buffers that are not `read`.",
    "E416": "Only scratch buffers can be uninitialized.",
    "E417": "Atomics go to storage or workgroup memory, not to private arrays.",
    "E418": "A program has an extent, unless all it returns has the length of one host input.",
    "E419": "An extent has at most three axes.",
    "E420": "A constant axis of an extent is from 0 to 4294967295.",
    # Control flow
    "E501": "`break` and `continue` stand in a loop.",
    "E502": "`break` and `continue` do not leave the condition of their own `while`.",
    "E503": "A barrier stands where all lanes of a workgroup come, or none. Lanes that returned or "
    "trapped do not count.",
    "E504": "A subgroup operation stands where all lanes of a workgroup come, or none. Lanes that "
    "returned or trapped do not count, and take no part.",
    "E505": "The step of a `for` is not the literal 0.",
    # Limits
    "E600": "At most 100 problems are listed for one program.",
    "E601": "A program has at most 100,000 operations (leaves, names, loads and stores do not "
    "count) and 500,000 rows in all.",
    "E602": "Blocks are nested at most 64 deep.",
    "E603": "A program has at most 1,000 buffers and params together.",
    "E604": "A workgroup has at most 65,536 lanes on one axis.",
}

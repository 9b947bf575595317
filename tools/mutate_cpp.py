"""Mutants of C++, all of them in one program.

The body of each function becomes a switch over the number of the mutant that the environment
variable HOLDFAST_MUTANT chooses; the default is what it was. So a run costs one build, and each
mutant a run of the tests. What the compiler refuses is left out. Constants outside of functions,
initialisers of members and `constexpr` functions stay as they are.
"""

import collections
import re
import subprocess

from mutate_common import Edit, Mutant, Token, number_mutations

TOKEN = re.compile(r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<number>\d[\w.']*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<operator><=>|->\*|\.\.\.|<<=|>>=|::|->|\+\+|--|&&|\|\||==|!=|<=|>=|\+=|-=|\*=|/=|<<|>>
               |[-+*/%^&|~!=<>?:;,.(){}\[\]])
  | (?P<space>\s+)""", re.VERBOSE | re.MULTILINE | re.DOTALL)

SWAPS = {"<=": ("<", ">"), ">=": (">", "<"), "==": ("!=",), "!=": ("==",), "&&": ("||",),
         "||": ("&&",), "+=": ("-=",), "-=": ("+=",), "++": ("--",), "--": ("++",),
         "true": ("false",), "false": ("true",), "min": ("max",), "max": ("min",)}
# Between blanks, as the formatter sets binary operators; templates have none.
SPACED_SWAPS = {"<": ("<=", ">"), ">": (">=", "<"), "+": ("-",), "-": ("+",), "*": ("/",),
                "/": ("*",)}
NO_STATEMENT = {"if", "for", "while", "switch", "case", "default", "else", "do", "return", "const",
                "auto", "using", "static", "struct", "class", "enum", "typedef", "static_assert",
                "constexpr", "public", "private", "throw", "template"}

CHOICE = """#ifndef HOLDFAST_CHOSEN_MUTANT
#define HOLDFAST_CHOSEN_MUTANT
#include <cstdlib>
namespace holdfast {
inline const int chosen_mutant = [] {
  const char* const text = std::getenv("HOLDFAST_MUTANT");
  return text == nullptr ? 0 : std::atoi(text);
}();
}
#endif
"""

Body = collections.namedtuple("Body", "start end gives_value")  # from behind { to before }


def tokens_of(text):
    return [Token(match.lastgroup, match.group(), match.start(), match.end())
            for match in TOKEN.finditer(text)
            if match.lastgroup not in ("comment", "space", "directive")]


def closing(tokens, at):
    """Where the bracket at this place is closed."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    first, depth = tokens[at].text, 0
    for here in range(at, len(tokens)):
        depth += (tokens[here].text == first) - (tokens[here].text == pairs[first])
        if depth == 0:
            return here
    raise ValueError("unbalanced")


def bodies_of(tokens):
    """The bodies of functions, which begin in namespaces and classes."""
    header, at = [], 0
    while at < len(tokens):
        word = tokens[at].text
        if word in (";", "}"):
            header = []
        elif word == "{":
            names = {token.text for token in header}
            if names & {"namespace", "class", "struct", "union", "enum"} and "(" not in names:
                if "enum" in names:
                    at = closing(tokens, at)
                header = []
            elif "(" in names and not is_member_initialiser(header):
                end = closing(tokens, at)
                if not names & {"constexpr", "consteval"}:
                    yield Body(tokens[at].end, tokens[end].start, gives_value(header))
                at, header = end, []
            else:  # the value of a variable or of a member
                end = closing(tokens, at)
                header += tokens[at:end + 1]
                at = end
        elif word == "(":
            end = closing(tokens, at)
            header += tokens[at:end + 1]
            at = end
        elif word == ":" and header and header[-1].text in ("public", "private", "protected"):
            header = []
        else:
            header.append(tokens[at])
        at += 1


def top_level(header):
    depth, found = 0, []
    for token in header:
        depth -= token.text in (")", "}")
        if depth == 0:
            found.append(token.text)
        depth += token.text in ("(", "{")
    return found


def is_member_initialiser(header):
    """In `name() : member_{1}`, the brace behind `member_`."""
    words = top_level(header)
    return ":" in words and header[-1].kind == "name"


def gives_value(header):
    words = top_level(header)
    before = words[:words.index("(")] if "(" in words else words
    if "void" in before and "*" not in before:
        return False
    if "operator" in before:
        return True
    plain = [word for word in before if word not in ("explicit", "inline", "~", "::", "static")]
    qualified = "".join(before)
    constructor = len(plain) == 1 or re.search(r"(\b\w+)::~?\1$", qualified) and len(plain) == 2
    return not constructor


def edits_in(text, tokens, body):
    inside = [i for i, token in enumerate(tokens) if body.start <= token.start < body.end]
    for at in inside:
        token = tokens[at]
        if token.kind == "number":
            yield from constant_edits(token)
        if token.kind in ("string", "number"):
            continue
        swaps = SWAPS.get(token.text, ())
        if not swaps and text[token.start - 1] == " " and text[token.end] in " \n":
            swaps = SPACED_SWAPS.get(token.text, ())
        for other in swaps:
            yield Edit(token.start, token.end, other, f"{token.text} -> {other}")
        if token.text == "!":
            yield Edit(token.start, token.end, "", "! -> nothing")
        if token.text in ("if", "while") and tokens[at + 1].text == "(":
            yield from branch_edits(tokens, at)
        if token.text == "?":
            yield from choice_edits(tokens, at)
        if token.kind == "name" and tokens[at - 1].text in (";", "{", "}", ")"):
            yield from statement_edits(tokens, at)


def constant_edits(token):
    match = re.fullmatch(r"(\d+)((?:s|ms|us|ns|h|min|u|U)?)", token.text)
    if match:
        for edit in number_mutations(token, match.group(1)):
            other = edit.text + match.group(2)
            yield Edit(token.start, token.end, other, f"{token.text} -> {other}")


def branch_edits(tokens, at):
    end = closing(tokens, at + 1)
    inner = tokens[at + 2:end]
    # `if (const auto x = f(); x)`: what is declared stays.
    first = max((i + 1 for i, token in enumerate(inner) if token.text == ";"), default=0)
    if not inner or inner[0].text in ("const", "auto") and first == 0:
        return
    for value in ("true", "false") if tokens[at].text == "if" else ("false",):
        yield Edit(inner[first].start, tokens[end].start, value,
                   f"{tokens[at].text} -> {tokens[at].text} {value}")


def choice_edits(tokens, at):
    """`a ? b : c` is b, or c: the condition ends where a bracket opens or an operator is weaker."""
    depth, begin = 0, at
    for here in range(at - 1, -1, -1):
        word = tokens[here].text
        depth += (word in (")", "}", "]")) - (word in ("(", "{", "["))
        if depth < 0 or depth == 0 and word in ("return", "=", ",", ";", ":", "?", "+=", "<<"):
            break
        begin = here
    for value in ("true", "false"):
        yield Edit(tokens[begin].start, tokens[at - 1].end, value, f"? -> {value} ?")


def statement_edits(tokens, at):
    if tokens[at].text in NO_STATEMENT:
        return
    if tokens[at - 1].text == ")" and not follows_condition(tokens, at - 1):
        return
    depth = 0
    for here in range(at, len(tokens)):
        word = tokens[here].text
        depth += (word in ("(", "{", "[")) - (word in (")", "}", "]"))
        if depth < 0:
            return
        if depth == 0 and word == ";":
            yield Edit(tokens[at].start, tokens[here].start, "", "removed")
            return


def follows_condition(tokens, at):
    depth = 0
    for here in range(at, -1, -1):
        depth += (tokens[here].text == ")") - (tokens[here].text == "(")
        if depth == 0:
            return tokens[here - 1].text in ("if", "for", "while")
    return False


def mutants_of(file):
    text = file.read_text()
    tokens = tokens_of(text)
    found, seen = [], set()
    for body in bodies_of(tokens):
        for edit in edits_in(text, tokens, body):
            mutant = Mutant(file, text, edit)
            mutant.body = body
            if mutant.mutated not in seen:
                seen.add(mutant.mutated)
                found.append(mutant)
    return found


def with_all(file, mutants):
    """The file with these mutants, and in which of its lines each of them is: [(first, last)]."""
    text, parts, at, spans = file.read_text(), [], 0, {}
    by_body = collections.defaultdict(list)
    for mutant in mutants:
        by_body[mutant.body].append(mutant)
    start = re.search(r"^namespace holdfast", text, re.MULTILINE).start()
    parts += [text[:start], CHOICE]
    at = start
    for body in sorted(by_body):
        parts += [text[at:body.start], "\nswitch (::holdfast::chosen_mutant) {\n"]
        for mutant in by_body[body]:
            longer = len(mutant.edit.text) - (mutant.edit.end - mutant.edit.start)
            parts.append(f"case {mutant.number}: {{")
            first = "".join(parts).count("\n") + 1
            parts.append(mutant.mutated[body.start:body.end + longer] + "\n} break;\n")
            spans[mutant] = (first, first + parts[-1].count("\n"))
        ending = "\n__builtin_trap();\n" if body.gives_value else "\n"
        parts += ["default: {" + text[body.start:body.end] + "}\n" +
                  ("" if body.gives_value else "break;") + "\n}" + ending]
        at = body.end
    parts.append(text[at:])
    return "".join(parts), spans


def compile_command(command, target):
    """What checks a file, made from the command that compiles another of the same room."""
    words, skip = [], False
    for word in command.split():
        if skip or word in ("-c", "-Winvalid-pch", "-Werror"):
            skip = False
        elif word in ("-o", "-include"):
            skip = True
        elif not word.endswith((".cpp", ".cxx", "ccache")):
            words.append(word)
    return words + ["-fsyntax-only", "-w", "-fmax-errors=0", str(target)]


def write_compiling(file, mutants, target, command):
    """Writes the file with those of the mutants that compile, and returns them."""
    while True:
        text, spans = with_all(file, mutants)
        target.write_text(text)
        said = subprocess.run(compile_command(command, target), capture_output=True, text=True)
        if said.returncode == 0:
            return mutants
        lines = {int(line) for line in re.findall(
            rf"{re.escape(str(target))}:(\d+):\d+: (?:error|fatal error|  *required from)",
            said.stderr)}
        refused = [mutant for mutant, (first, last) in spans.items()
                   if any(first <= line <= last for line in lines)]
        if not refused:
            raise SystemExit(f"error: {file} cannot be built with its mutants:\n"
                             f"{said.stderr[:2000]}")
        mutants = [mutant for mutant in mutants if mutant not in refused]

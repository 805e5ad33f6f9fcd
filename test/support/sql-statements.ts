import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Node, parseSync } from 'oxc-parser'

/** A raw statement in the sources, with its fragments inserted and `$1`, `$2`, … for its values. */
export type RawStatement = {
  file: string
  line: number
  /** The row type that it claims, as written; null if it claims none, or one that its callers choose. */
  row: string | null
  /** One text per alternative of its fragments; empty if a fragment is only known at run time. */
  texts: string[]
}

type Source = { file: string; text: string; program: Node; parents: Map<Node, Node> }

/** The arguments of a call that is being followed. */
type Frame = {
  fn: Node
  args: Map<string, { node: Node; frame: Frame | null; source: Source }>
  outer: Frame | null
}

type Place = { node: Node; frame: Frame | null; source: Source }

// biome-ignore lint/suspicious/noExplicitAny: the union of all syntax nodes is read by field
type AnyNode = any

const depthMax = 12
const valueMark = '\u0000'
const beginning = /^\s*(?:\/\*.*?\*\/\s*)?(?:select|with|insert|update|delete|declare|fetch)\b/

/** Reads the statements of all sources in a folder. */
export function readStatements(root: string): RawStatement[] {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )
  const sources = new Map(names.map((name) => [join(root, name), readSource(join(root, name))]))
  return [...sources.values()].flatMap((source) => statementsOf(source, sources))
}

function readSource(file: string): Source {
  const text = readFileSync(file, 'utf8')
  const { program } = parseSync(file, text)
  const parents = new Map<Node, Node>()
  const visit = (node: Node): void => {
    for (const child of Object.values(node).flat())
      if (isNode(child)) {
        parents.set(child, node)
        visit(child)
      }
  }
  visit(program)
  return { file, text, program, parents }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

function statementsOf(source: Source, sources: ReadonlyMap<string, Source>): RawStatement[] {
  const expander = createExpander(sources)
  const found: RawStatement[] = []
  for (const node of source.parents.keys()) {
    if (!isSql(node)) continue
    const [type] = (node as AnyNode).typeArguments?.params ?? []
    const parent: AnyNode = source.parents.get(node)
    const isExecuted = parent?.type === 'MemberExpression' && parent.property.name === 'execute'
    if (!isExecuted && type === undefined) continue
    const texts = expander.fragments({ node, frame: null, source }) ?? []
    if (!isExecuted && !texts.some((text) => beginning.test(text))) continue
    found.push({
      file: source.file,
      line: source.text.slice(0, node.start).split('\n').length,
      row:
        type === undefined || isOfCaller(node, type, source) ? null : source.text.slice(type.start, type.end),
      texts: texts.some((text) => text.includes('\u0001')) ? [] : [...new Set(texts.map(numberValues))],
    })
  }
  return found
}

function isSql(node: Node): boolean {
  return node.type === 'TaggedTemplateExpression' && node.tag.type === 'Identifier' && node.tag.name === 'sql'
}

function isOfCaller(node: Node, type: Node, source: Source): boolean {
  const name = source.text.slice(type.start, type.end)
  for (let outer: AnyNode = node; outer !== undefined; outer = source.parents.get(outer))
    if (outer.typeParameters?.params.some((param: AnyNode) => param.name.name === name)) return true
  return false
}

function numberValues(text: string): string {
  let count = 0
  return text.replaceAll(valueMark, () => `$${++count}`)
}

/** Follows constants, functions and parameters that hold fragments. Whatever is no fragment is a value. */
function createExpander(sources: ReadonlyMap<string, Source>) {
  let depth = 0

  function fragments(place: Place): string[] | null {
    if (depth > depthMax) return null
    depth++
    try {
      return fragmentsOf(place)
    } finally {
      depth--
    }
  }

  function fragmentsOf({ node, frame, source }: Place): string[] | null {
    const one: AnyNode = node
    const at = (inner: Node): Place => ({ node: inner, frame, source })
    if (isSql(node)) return expand(one.quasi, at)
    if (one.type === 'ConditionalExpression')
      return either(fragments(at(one.consequent)), fragments(at(one.alternate)))
    if (one.type === 'ParenthesizedExpression' || one.type === 'TSAsExpression')
      return fragments(at(one.expression))
    if (one.type === 'MemberExpression') return memberOf(one, at)
    if (one.type === 'CallExpression') return callOf(one, at)
    if (one.type !== 'Identifier') return null
    const target = resolve(one.name, { node, frame, source })
    if (target === null) return null
    return 'callers' in target ? union(target.callers.map(fragments)) : fragments(target)
  }

  function expand(quasi: AnyNode, at: (inner: Node) => Place): string[] {
    const parts: string[][] = quasi.expressions.map((inner: Node) => fragments(at(inner)) ?? [valueMark])
    const count = Math.max(1, ...parts.map((part) => part.length))
    return Array.from({ length: count }, (_none, index) =>
      quasi.quasis
        .map(
          ({ value }: AnyNode, place: number) =>
            value.cooked + (parts[place]?.[Math.min(index, parts[place].length - 1)] ?? ''),
        )
        .join(''),
    )
  }

  function memberOf(member: AnyNode, at: (inner: Node) => Place): string[] | null {
    if (member.object.type !== 'Identifier' || member.computed) return null
    const target = resolve(member.object.name, at(member))
    if (target === null || 'callers' in target) return null
    const held: AnyNode = target.node
    const property =
      held.type === 'ObjectExpression' &&
      held.properties.find((one: AnyNode) => one.key?.name === member.property.name)
    return property ? fragments({ ...target, node: property.value }) : null
  }

  function callOf(call: AnyNode, at: (inner: Node) => Place): string[] | null {
    const { callee } = call
    if (callee.type === 'MemberExpression' && callee.object.name === 'sql')
      return builtin(callee.property.name, call, at)
    return union(returnsOf(call, at).map(fragments))
  }

  function builtin(name: string, call: AnyNode, at: (inner: Node) => Place): string[] {
    const [first, second] = call.arguments
    if (name === 'join') {
      const separator = second === undefined ? ', ' : (fragments(at(second))?.[0] ?? ', ')
      return [listOf(at(first)).join(separator)]
    }
    const text = textOf(at(first))
    if (name === 'lit') return [text === null || /^\d+$/.test(text) ? (text ?? '1') : `'${text}'`]
    // A text that only a run can tell.
    if (text === null) return ['\u0001']
    return [
      name === 'raw'
        ? text
        : text
            .split('.')
            .map((part) => `"${part}"`)
            .join('.'),
    ]
  }

  /** What a call returns, in a frame with its arguments. */
  function returnsOf(call: AnyNode, at: (inner: Node) => Place): Place[] {
    if (call.callee.type !== 'Identifier') return []
    const target = resolve(call.callee.name, at(call))
    if (target === null || 'callers' in target) return []
    const fn: AnyNode = target.node
    if (!isFunction(fn) || fn.body === null) return []
    const args = new Map<string, Place>()
    fn.params.forEach((param: AnyNode, place: number) => bind(param, call.arguments[place], at, args))
    const frame: Frame = { fn, args, outer: target.frame }
    const returned = fn.body.type === 'BlockStatement' ? returnedBy(fn.body) : [fn.body]
    return returned.map((node) => ({ node, frame, source: target.source }))
  }

  function bind(param: AnyNode, arg: AnyNode, at: (inner: Node) => Place, args: Map<string, Place>): void {
    const named: AnyNode = param.type === 'AssignmentPattern' ? param.left : param
    if (arg === undefined) return
    if (named.type === 'Identifier') args.set(named.name, at(arg))
    if (named.type !== 'ObjectPattern' || arg.type !== 'ObjectExpression') return
    for (const { key, value } of named.properties as AnyNode[]) {
      const given = arg.properties.find((one: AnyNode) => one.key?.name === key?.name)
      if (given !== undefined && value?.type === 'Identifier') args.set(value.name, at(given.value))
    }
  }

  function listOf(place: Place): string[] {
    const one: AnyNode = place.node
    const at = (inner: Node): Place => ({ ...place, node: inner })
    if (one.type === 'ArrayExpression')
      return one.elements.flatMap((item: AnyNode) =>
        item.type === 'SpreadElement'
          ? listOf(at(item.argument))
          : (fragments(at(item))?.slice(0, 1) ?? [valueMark]),
      )
    if (one.type === 'ConditionalExpression')
      return [...listOf(at(one.consequent)), ...listOf(at(one.alternate))]
    if (one.type === 'CallExpression') return returnsOf(one, at).flatMap(listOf)
    const target = one.type === 'Identifier' ? resolve(one.name, place) : null
    return target === null || 'callers' in target ? [] : listOf(target)
  }

  function textOf(place: Place): string | null {
    const one: AnyNode = place.node
    if (one.type === 'Literal') return typeof one.value === 'string' ? one.value : String(one.value)
    if (one.type === 'TemplateLiteral') {
      const parts = one.expressions.map((inner: Node) => textOf({ ...place, node: inner }))
      if (parts.includes(null)) return null
      return one.quasis
        .map(({ value }: AnyNode, index: number) => value.cooked + (parts[index] ?? ''))
        .join('')
    }
    const target = one.type === 'Identifier' ? resolve(one.name, place) : null
    return target === null || 'callers' in target ? null : textOf(target)
  }

  /** What a name stands for: a constant, a function, an argument, or, for a fragment that callers pass, these callers. */
  function resolve(name: string, { node, frame, source }: Place): Place | { callers: Place[] } | null {
    let current = frame
    for (
      let outer: AnyNode = source.parents.get(node);
      outer !== undefined;
      outer = source.parents.get(outer)
    ) {
      if (isFunction(outer)) {
        const isFollowed = current?.fn === outer
        const param = outer.params.find((one: AnyNode) => namesOf(one).includes(name))
        if (param !== undefined) {
          if (isFollowed) return current?.args.get(name) ?? null
          return isFragmentType(param, source)
            ? { callers: callersOf(outer, outer.params.indexOf(param), source) }
            : null
        }
        if (isFollowed) current = current?.outer ?? null
      }
      for (const statement of (outer.type === 'Program' || outer.type === 'BlockStatement'
        ? outer.body
        : []) as AnyNode[]) {
        const declared = declaredIn(statement, name)
        if (declared !== null) return { node: declared, frame: current, source }
      }
    }
    return imported(name, source)
  }

  function imported(name: string, { program, file }: Source): Place | null {
    for (const one of (program as AnyNode).body) {
      if (one.type !== 'ImportDeclaration') continue
      const specifier = one.specifiers.find(({ local }: AnyNode) => local.name === name)
      const source = sources.get(join(dirname(file), one.source.value))
      if (specifier?.type !== 'ImportSpecifier' || source === undefined) continue
      for (const statement of (source.program as AnyNode).body) {
        const declared = declaredIn(statement, specifier.imported.name)
        if (declared !== null) return { node: declared, frame: null, source }
      }
    }
    return null
  }

  function callersOf(fn: AnyNode, place: number, source: Source): Place[] {
    const name = fn.id?.name
    if (name === undefined) return []
    return [...sources.values()].flatMap((caller) =>
      [...caller.parents.keys()].flatMap((node: AnyNode) => {
        if (node.type !== 'CallExpression' || node.callee.name !== name) return []
        const target = resolve(name, { node, frame: null, source: caller })
        const isSame =
          target !== null && !('callers' in target) && target.node === fn && target.source === source
        return isSame && node.arguments[place] !== undefined
          ? [{ node: node.arguments[place], frame: null, source: caller }]
          : []
      }),
    )
  }

  return { fragments }
}

function declaredIn(statement: AnyNode, name: string): Node | null {
  const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
  if (isFunction(declaration) && declaration.id?.name === name) return declaration
  if (declaration?.type !== 'VariableDeclaration') return null
  return declaration.declarations.find(({ id }: AnyNode) => id.name === name)?.init ?? null
}

function isFunction(node: AnyNode): boolean {
  return /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node?.type ?? '')
}

function namesOf(param: AnyNode): string[] {
  const named = param?.type === 'AssignmentPattern' ? param.left : param
  if (named?.type === 'Identifier') return [named.name]
  const inner = named?.properties?.map(({ value }: AnyNode) => value) ?? named?.elements ?? []
  return inner.flatMap(namesOf)
}

function isFragmentType(param: AnyNode, { text }: Source): boolean {
  return /:\s*(?:RawBuilder<|ReturnType<typeof sql>)/.test(text.slice(param.start, param.end))
}

function returnedBy(node: AnyNode): Node[] {
  if (node.type === 'ReturnStatement') return node.argument === null ? [] : [node.argument]
  if (isFunction(node)) return []
  return Object.values(node).flat().filter(isNode).flatMap(returnedBy)
}

function either(one: string[] | null, other: string[] | null): string[] | null {
  return one === null && other === null ? null : [...(one ?? ['']), ...(other ?? [''])]
}

function union(all: readonly (string[] | null)[]): string[] | null {
  const found = all.flatMap((texts) => texts ?? [])
  return found.length === 0 ? null : found
}

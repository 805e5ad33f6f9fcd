import type { Node } from 'oxc-parser'
import { argumentsOf, createResolver, type Frame, type Place } from './resolve-names.ts'
import { type AnyNode, isFunction, nodesAround, readSources, returnedBy, type Source } from './syntax.ts'

/** A raw statement in the sources, with its fragments inserted and `$1`, `$2`, … for its values. */
export type RawStatement = {
  file: string
  line: number
  /** The row type that it claims, as written; null if it claims none, or one that its callers choose. */
  row: string | null
  /** One text per alternative of its fragments; empty if a fragment is only known at run time. */
  texts: string[]
}

const depthMax = 12
const valueMark = '\u0000'
/** Stands for a text that only a run can tell. */
const unknownMark = '\u0001'
const beginning = /^\s*(?:\/\*.*?\*\/\s*)?(?:select|with|insert|update|delete|declare|fetch)\b/

/** Reads the statements of all sources in a folder. */
export function readStatements(root: string): RawStatement[] {
  const sources = readSources(root)
  const expander = createExpander(sources)
  return [...sources.values()].flatMap((source) =>
    [...source.parents.keys()].filter(isSql).flatMap((node) => {
      const texts = expander.fragments({ node, frame: null, source }) ?? []
      return isStatement(node, texts, source) ? [describe(node, texts, source)] : []
    }),
  )
}

function isSql(node: Node): boolean {
  return node.type === 'TaggedTemplateExpression' && node.tag.type === 'Identifier' && node.tag.name === 'sql'
}

/** Whether it is run, or claims a row type and begins like a statement; otherwise it is a fragment. */
function isStatement(node: Node, texts: readonly string[], source: Source): boolean {
  const parent: AnyNode = source.parents.get(node)
  if (parent?.type === 'MemberExpression' && parent.property.name === 'execute') return true
  return rowTypeOf(node) !== undefined && texts.some((text) => beginning.test(text))
}

function describe(node: Node, texts: readonly string[], source: Source): RawStatement {
  return {
    file: source.file,
    line: source.text.slice(0, node.start).split('\n').length,
    row: rowOf(node, source),
    texts: texts.some((text) => text.includes(unknownMark)) ? [] : [...new Set(texts.map(numberValues))],
  }
}

function rowTypeOf(node: AnyNode): Node | undefined {
  return node.typeArguments?.params[0]
}

function rowOf(node: Node, source: Source): string | null {
  const type = rowTypeOf(node)
  if (type === undefined) return null
  const name = source.text.slice(type.start, type.end)
  return isOfCaller(name, node, source) ? null : name
}

function isOfCaller(name: string, node: Node, source: Source): boolean {
  return [...nodesAround(node, source)].some((outer) =>
    outer.typeParameters?.params.some((param: AnyNode) => param.name.name === name),
  )
}

function numberValues(text: string): string {
  let count = 0
  return text.replaceAll(valueMark, () => `$${++count}`)
}

/** Follows constants, functions and parameters that hold fragments. Whatever is no fragment is a value. */
function createExpander(sources: ReadonlyMap<string, Source>) {
  const { resolve, resolveOne } = createResolver(sources)
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
    const target = resolveOne(member.object.name, at(member))
    if (target === null) return null
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
    if (callee.name === 'asTable') return [tableOf(call, at)]
    return union(returnsOf(call, at).map(fragments))
  }

  /** What `asTable` of `src/store/database.ts` makes of a name and of columns. */
  function tableOf({ arguments: [name, , columns] }: AnyNode, at: (inner: Node) => Place): string {
    const typed = (textOf(at(columns)) ?? unknownMark).split(', ').map((column) => column.split(' '))
    const arrays = typed.map(([, type]) => `${valueMark}::${type}[]`)
    const names = typed.map(([column = '']) => quoteName(column))
    return `unnest(${arrays.join(', ')}) as "${textOf(at(name))}" (${names.join(', ')})`
  }

  function builtin(name: string, call: AnyNode, at: (inner: Node) => Place): string[] {
    const [first, second] = call.arguments
    if (name === 'join') {
      const separator = second === undefined ? ', ' : (fragments(at(second))?.[0] ?? ', ')
      return [listOf(at(first)).join(separator)]
    }
    const text = textOf(at(first))
    if (name === 'lit') return [literal(text)]
    if (text === null) return [unknownMark]
    return [name === 'raw' ? text : quoteName(text)]
  }

  /** What a call returns, in a frame with its arguments. */
  function returnsOf(call: AnyNode, at: (inner: Node) => Place): Place[] {
    if (call.callee.type !== 'Identifier') return []
    const target = resolveOne(call.callee.name, at(call))
    if (target === null) return []
    const fn: AnyNode = target.node
    if (!isFunction(fn) || fn.body === null) return []
    const frame: Frame = { fn, args: argumentsOf(call, fn, at), outer: target.frame }
    return returnedBy(fn).map((node) => ({ node, frame, source: target.source }))
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
    const target = one.type === 'Identifier' ? resolveOne(one.name, place) : null
    return target === null ? [] : listOf(target)
  }

  function textOf(place: Place): string | null {
    const one: AnyNode = place.node
    if (one.type === 'TSAsExpression') return textOf({ ...place, node: one.expression })
    if (one.type === 'Literal') return typeof one.value === 'string' ? one.value : String(one.value)
    if (one.type === 'TemplateLiteral') {
      const parts = one.expressions.map((inner: Node) => textOf({ ...place, node: inner }))
      if (parts.includes(null)) return null
      return one.quasis
        .map(({ value }: AnyNode, index: number) => value.cooked + (parts[index] ?? ''))
        .join('')
    }
    const target = one.type === 'Identifier' ? resolveOne(one.name, place) : null
    return target === null ? null : textOf(target)
  }

  return { fragments }
}

function literal(text: string | null): string {
  if (text === null) return '1'
  return /^\d+$/.test(text) ? text : `'${text}'`
}

function quoteName(name: string): string {
  return name
    .split('.')
    .map((part) => `"${part}"`)
    .join('.')
}

function either(one: string[] | null, other: string[] | null): string[] | null {
  return one === null && other === null ? null : [...(one ?? ['']), ...(other ?? [''])]
}

function union(all: readonly (string[] | null)[]): string[] | null {
  const found = all.flatMap((texts) => texts ?? [])
  return found.length === 0 ? null : found
}

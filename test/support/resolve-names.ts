import { dirname, join } from 'node:path'
import type { Node } from 'oxc-parser'
import { type AnyNode, declaredAmong, isFunction, namesOf, nodesAround, type Source } from './syntax.ts'

/** The arguments of a call that is being followed. */
export type Frame = { fn: Node; args: Map<string, Place>; outer: Frame | null }

export type Place = { node: Node; frame: Frame | null; source: Source }

/** For a fragment that callers pass: what each of them passes. */
type Passed = { callers: Place[] }

/** Finds what names stand for. */
export function createResolver(sources: ReadonlyMap<string, Source>) {
  /** What a name stands for: a constant, a function, an argument, or, for a fragment that callers pass, these callers. */
  function resolve(name: string, { node, frame, source }: Place): Place | Passed | null {
    let current = frame
    for (const outer of nodesAround(node, source)) {
      const followed = current?.fn === outer ? current : null
      const place = parameterOf(outer, name)
      if (place !== -1)
        return followed === null ? passedTo(outer, place, source) : (followed.args.get(name) ?? null)
      if (followed !== null) current = followed.outer
      const declared = declaredAmong(statementsIn(outer), name)
      if (declared !== null) return { node: declared, frame: current, source }
    }
    return imported(name, source)
  }

  /** What a name stands for, unless callers pass it. */
  function resolveOne(name: string, place: Place): Place | null {
    const target = resolve(name, place)
    return target === null || 'callers' in target ? null : target
  }

  function passedTo(fn: AnyNode, place: number, source: Source): Passed | null {
    return isFragmentType(fn.params[place], source) ? { callers: callersOf(fn, place, source) } : null
  }

  function imported(name: string, { program, file }: Source): Place | null {
    for (const one of statementsIn(program)) {
      if (one.type !== 'ImportDeclaration') continue
      const specifier = one.specifiers.find(({ local }: AnyNode) => local.name === name)
      const source = sources.get(join(dirname(file), one.source.value))
      if (specifier?.type !== 'ImportSpecifier' || source === undefined) continue
      const node = declaredAmong(statementsIn(source.program), specifier.imported.name)
      if (node !== null) return { node, frame: null, source }
    }
    return null
  }

  function callersOf(fn: AnyNode, place: number, source: Source): Place[] {
    const name = fn.id?.name
    if (name === undefined) return []
    return [...sources.values()].flatMap((caller) =>
      [...caller.parents.keys()].flatMap((node: AnyNode) => {
        if (node.type !== 'CallExpression' || node.callee.name !== name) return []
        const target = resolveOne(name, { node, frame: null, source: caller })
        const isSame = target?.node === fn && target?.source === source
        return isSame && node.arguments[place] !== undefined
          ? [{ node: node.arguments[place], frame: null, source: caller }]
          : []
      }),
    )
  }

  return { resolve, resolveOne }
}

/** The place of the parameter that declares a name; -1 if there is none. */
function parameterOf(node: AnyNode, name: string): number {
  return isFunction(node) ? node.params.findIndex((one: AnyNode) => namesOf(one).includes(name)) : -1
}

function statementsIn(node: AnyNode): readonly AnyNode[] {
  return node.type === 'Program' || node.type === 'BlockStatement' ? node.body : []
}

function isFragmentType(param: AnyNode, { text }: Source): boolean {
  return /:\s*(?:RawBuilder<|ReturnType<typeof sql>)/.test(text.slice(param.start, param.end))
}

/** The arguments of a call by the names of the parameters; a value that is not given is left out. */
export function argumentsOf(call: AnyNode, fn: AnyNode, at: (inner: Node) => Place): Map<string, Place> {
  const bound = (fn.params as AnyNode[]).flatMap((param, place) => bind(param, call.arguments[place]))
  return new Map(bound.map(([name, given]) => [name, at(given)]))
}

function bind(param: AnyNode, given: AnyNode): [string, Node][] {
  const named = param.type === 'AssignmentPattern' ? param.left : param
  if (given === undefined) return []
  if (named.type === 'Identifier') return [[named.name, given]]
  if (named.type !== 'ObjectPattern' || given.type !== 'ObjectExpression') return []
  return (named.properties as AnyNode[]).flatMap(({ key, value }): [string, Node][] => {
    const property = given.properties.find((one: AnyNode) => one.key?.name === key?.name)
    return property !== undefined && value?.type === 'Identifier' ? [[value.name, property.value]] : []
  })
}

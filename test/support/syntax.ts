import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Node, parseSync } from 'oxc-parser'

/** A source file with its syntax tree, and of each node the one that it is in. */
export type Source = { file: string; text: string; program: Node; parents: Map<Node, Node> }

// biome-ignore lint/suspicious/noExplicitAny: the union of all syntax nodes is read by field
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyNode = any

/** Reads and parses all sources in a folder; they are found by their paths. */
export function readSources(root: string): Map<string, Source> {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )
  return new Map(names.map((name) => [join(root, name), readSource(join(root, name))]))
}

function readSource(file: string): Source {
  const text = readFileSync(file, 'utf8')
  const { program } = parseSync(file, text)
  const parents = new Map<Node, Node>()
  const visit = (node: Node): void => {
    for (const child of childrenOf(node)) {
      parents.set(child, node)
      visit(child)
    }
  }
  visit(program)
  return { file, text, program, parents }
}

function childrenOf(node: Node): Node[] {
  return Object.values(node).flat().filter(isNode)
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** The nodes that a node is in, from the inside out. */
export function* nodesAround(node: Node, { parents }: Source): Generator<AnyNode> {
  for (let outer = parents.get(node); outer !== undefined; outer = parents.get(outer)) yield outer
}

export function isFunction(node: AnyNode): boolean {
  return /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node?.type ?? '')
}

/** The names that a parameter declares. */
export function namesOf(param: AnyNode): string[] {
  const named = param?.type === 'AssignmentPattern' ? param.left : param
  if (named?.type === 'Identifier') return [named.name]
  const inner = named?.properties?.map(({ value }: AnyNode) => value) ?? named?.elements ?? []
  return inner.flatMap(namesOf)
}

/** What these statements declare under a name: a function, or the value of a constant. */
export function declaredAmong(statements: readonly AnyNode[], name: string): Node | null {
  for (const statement of statements) {
    const declared = declaredIn(statement, name)
    if (declared !== null) return declared
  }
  return null
}

function declaredIn(statement: AnyNode, name: string): Node | null {
  const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
  if (isFunction(declaration) && declaration.id?.name === name) return declaration
  if (declaration?.type !== 'VariableDeclaration') return null
  return declaration.declarations.find(({ id }: AnyNode) => id.name === name)?.init ?? null
}

/** What a function may return. */
export function returnedBy(fn: AnyNode): Node[] {
  return fn.body.type === 'BlockStatement' ? returnedIn(fn.body) : [fn.body]
}

function returnedIn(node: AnyNode): Node[] {
  if (node.type === 'ReturnStatement') return node.argument === null ? [] : [node.argument]
  return isFunction(node) ? [] : childrenOf(node).flatMap(returnedIn)
}

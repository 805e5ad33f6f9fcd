import { Document, isMap, isNode, isScalar, type Node, visit } from 'yaml'
import type { ProfileDraft } from './infer-profile.ts'

/** Longer maps are written with one line per key. */
const flowKeysMax = 4

/** Writes a draft as YAML, with a comment on each doubtful line. */
export function writeProfile({ profile, doubts }: ProfileDraft, heading: readonly string[]): string {
  const document = new Document(profile)
  document.commentBefore = heading.map((line) => ` ${line}`).join('\n')
  for (const { path, text } of doubts) {
    const node = document.getIn(path, true)
    if (isNode(node)) mark(node, ` unsure: ${text}`)
  }
  visit(document, {
    Map(_key, node) {
      if (node.items.length <= flowKeysMax && node.items.every(isPlain)) node.flow = true
    },
    Seq(_key, node) {
      node.flow = true
    },
  })
  return document.toString({ lineWidth: 110, singleQuote: true })
}

function mark(node: Node, comment: string): void {
  const [first] = isMap(node) ? node.items : []
  const target = isNode(first?.value) ? first.value : node
  target.comment = comment
}

/** A comment ends its line, so a commented value cannot be inside braces. */
function isPlain({ value }: { value: unknown }): boolean {
  if (isMap(value)) return false
  return !isScalar(value) || value.comment === undefined || value.comment === null
}

const words = new Set(['and', 'or', 'unless', 'offset', 'bool', 'group_left', 'group_right', 'inf', 'nan'])

const grouping = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g
const selector = /(?<![\w:"$.])([a-zA-Z_:][\w:]*)(?![\w:])(?!\s*\()\s*(?:\{[^}]*\})?/g

/** The selectors of a PromQL expression as they stand there, each once, without range and offset. */
export function selectorsOf(expression: string): string[] {
  // Places stay as they are, so that what is found is cut out of the original.
  const masked = expression
    .replace(/"(?:[^"\\]|\\.)*"/g, (text) => `"${'0'.repeat(text.length - 2)}"`)
    .replace(grouping, blank)
    .replace(/\[[^\]]*\]/g, blank)
  const found = [...masked.matchAll(selector)]
    .filter(([, name = '']) => !words.has(name.toLowerCase()))
    .map(({ 0: text, index }) => expression.slice(index, index + text.trimEnd().length))
  return [...new Set(found)]
}

function blank(found: string): string {
  return ' '.repeat(found.length)
}

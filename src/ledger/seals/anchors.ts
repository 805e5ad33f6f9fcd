import { z } from 'zod'
import { hashSeal, type Seal, sealFields } from './seal.ts'

/** One line of a file of anchors: all that is needed to check the books or a proof against a seal. */
export function anchorLine(seal: Seal): string {
  const fields = [...sealFields, 'hash' as const].map((name) => [name, seal[name]])
  return JSON.stringify(Object.fromEntries(fields))
}

const number = z.string().regex(/^(?:0|[1-9]\d{0,18})$/)
const hash = z.string().regex(/^[0-9a-f]{64}$/)

const anchorShape = z.strictObject({
  number,
  after: number,
  last: number,
  journals: number,
  root: hash,
  previous: hash,
  sealedAt: z.string(),
  hash,
})

/**
 * Parses such a line.
 * @returns the seal, or what is wrong with the line
 */
export function readAnchor(line: string): Seal | { fault: string } {
  const read = anchorShape.safeParse(jsonOf(line))
  if (!read.success) return { fault: 'it is no seal as "ledger seals export" writes them' }
  return hashSeal(read.data) === read.data.hash ? read.data : { fault: 'its hash is not that of its fields' }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

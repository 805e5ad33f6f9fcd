import type { Client } from 'pg'
import { sameInBoth } from './invariants/i07-convergence.ts'

type Lines = ReadonlyMap<string, number>

/** What two databases do not agree in, a line each. */
export async function compareBooks(ours: Client, theirs: Client): Promise<string[]> {
  const [one, other] = [await linesOf(ours), await linesOf(theirs)]
  const lines = [...new Set([...one.keys(), ...other.keys()])]
  return lines.flatMap((line) => {
    const [here, there] = [one.get(line) ?? 0, other.get(line) ?? 0]
    return here === there ? [] : [`${here} times here, ${there} times there: ${line}`]
  })
}

async function linesOf(client: Client): Promise<Lines> {
  const lines = new Map<string, number>()
  for (const [what, question] of Object.entries(sameInBoth)) {
    const { rows } = await client.query<{ line: string }>(`select line::text from (${question}) as one`)
    for (const { line } of rows) {
      const reported = `${what}: ${line}`
      lines.set(reported, (lines.get(reported) ?? 0) + 1)
    }
  }
  return lines
}

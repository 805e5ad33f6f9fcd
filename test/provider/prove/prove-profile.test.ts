import { expect, test } from 'vitest'
import { inferProfile } from '../../../src/provider/infer/infer-profile.ts'
import type { FieldProof } from '../../../src/provider/prove/proof.ts'
import { type ProvedProfile, proveProfile } from '../../../src/provider/prove/prove-profile.ts'
import { makeShape, type Shape } from './render-shape.ts'
import { wrongClaims } from './wrong-claims.ts'
import { wrongLines } from './wrong-lines.ts'

const shapes = Number(process.env.SHAPES ?? '60')
const first = Number(process.env.SEED ?? '1')

function prove({ payloads, answers, world }: Shape): ProvedProfile {
  const { hints } = world.facts
  return proveProfile({ draft: inferProfile({ payloads, answers }, hints), payloads, answers }, world.facts)
}

test(`of ${shapes} services of all shapes, no line is wrong without being marked as unsure`, () => {
  const wrong: string[] = []
  const counts = { proved: 0, lines: 0, whole: 0, plain: 0, plainProved: 0, plainLines: 0, plainWhole: 0 }
  const unsureLines = new Map<string, number>()
  for (let seed = first; seed < first + shapes; seed++) {
    const shape = makeShape(seed)
    const profile = prove(shape)
    wrong.push(...wrongLines(shape, profile).map((line) => `seed ${seed}: ${line}`))
    const own = profile.proofs.filter(({ path }) => path[0] !== 'list')
    const open = own.filter(({ proof }) => proof.kind === 'unsure')
    if (open.length === 0) wrong.push(...wrongClaims(shape, profile).map((claim) => `seed ${seed}: ${claim}`))
    if (shape.isPlain) {
      for (const one of open) count(unsureLines, one)
      counts.plain++
      counts.plainWhole += open.length === 0 ? 1 : 0
      counts.plainLines += own.length
      counts.plainProved += own.length - open.length
    }
    counts.lines += own.length
    counts.proved += own.length - open.length
    counts.whole += open.length === 0 ? 1 : 0
  }
  process.stdout.write(
    `${shapes} shapes from seed ${first}: fully proved ${share(counts.whole, shapes)}, lines proved ${share(counts.proved, counts.lines)};
of ${counts.plain} with plain words, no look-alikes and ample samples: fully proved ${share(counts.plainWhole, counts.plain)}, lines proved ${share(counts.plainProved, counts.plainLines)}\n`,
  )
  if (process.env.SHAPES_WHY !== undefined)
    process.stdout.write(
      `${[...unsureLines]
        .toSorted((one, other) => other[1] - one[1])
        .slice(0, 90)
        .map(([why, times]) => `${times} ${why}`)
        .join('\n')}\n`,
    )
  expect(wrong).toEqual([])
}, 600_000)

function share(part: number, all: number): string {
  return `${((100 * part) / all).toFixed(1)} %`
}

function count(lines: Map<string, number>, { path, proof }: FieldProof): void {
  const isWord = path.includes('words') || path[0] === 'networks' || path[0] === 'assets'
  const key = `${(isWord ? path.slice(0, -1) : path).join('.')}: ${proof.kind === 'unsure' ? proof.why + (process.env.SHAPES_WHY === 'more' ? ` ${proof.alternatives.join(' ')}` : '') : ''}`
  lines.set(key, (lines.get(key) ?? 0) + 1)
}

import { styleText } from 'node:util'
import type { Plan } from './plan.ts'
import type { SeedResult, Teller } from './run-seed.ts'

export type Print = (line: string) => void

const titleWidth = 68

const dim = (text: string): string => styleText('dim', text)
const mark = (held: boolean): string => (held ? styleText('green', '✓') : styleText('red', '✗'))

/** Lines for people, as things happen. */
export function reportPeople(print: Print): Teller {
  const inRed = (lines: readonly string[]) => {
    for (const line of lines) print(styleText('red', `        ${line}`))
  }
  return {
    world: (seconds) => print(dim(`  a world of real processes, up in ${seconds.toFixed(1)} s`)),
    struck({ name, title, seconds, resumedSeconds, problems }) {
      const resumed = resumedSeconds === null ? '' : dim(`  works again after ${resumedSeconds.toFixed(1)} s`)
      const line = `${name.padEnd(4)}${title.padEnd(titleWidth)}${`${seconds.toFixed(1)} s`.padStart(8)}`
      print(`  ${mark(problems.length === 0)} ${line}${resumed}`)
      inRed(problems)
    },
    twin(differences, seconds) {
      const text = 'the books are those of a daemon that nothing struck'
      print(
        `  ${mark(differences.length === 0)} I7  ${text.padEnd(titleWidth)}${`${seconds.toFixed(1)} s`.padStart(8)}`,
      )
      inRed(differences)
    },
    kept: (folder) => print(`        what all printed is in ${folder}`),
    say: (line) => print(dim(`      ${line}`)),
  }
}

export function titleOf({ seed, backend, faults }: Plan): string {
  return styleText('bold', `seed ${seed}, queue on ${backend}, ${faults.length} faults`)
}

export function isWell({ struck, differences }: SeedResult): boolean {
  return differences.length === 0 && struck.every(({ problems }) => problems.length === 0)
}

/** How to see it again. */
export function replayOf({ seed, backend, struck }: SeedResult): string {
  const failed = new Set(struck.filter(({ problems }) => problems.length > 0).map(({ name }) => name))
  const only = failed.size === 0 ? '' : ` --faults ${[...failed].join(',')} --backend ${backend}`
  return `npm run chaos -- --seed ${seed}${only}`
}

import type { Result, Verdict } from './suite.ts'

/** One line per fact, below the section of the page that states it, and a closing line that counts. */
export function report(results: readonly Result[]): string {
  const sections = [...new Set(results.map(({ section }) => section))]
  const lines = sections.flatMap((name) => [
    '',
    name,
    ...results.filter(({ section }) => section === name).map(lineOf),
  ])
  return `${[...lines, '', summary(results)].join('\n').trimStart()}\n`
}

function lineOf({ says, verdict }: Result): string {
  const line = `  ${words[verdict.kind].padEnd(11)}  ${says}`
  const remark = remarkOf(verdict)
  return remark === '' ? line : `${line}\n               ${remark}`
}

const words: Record<Verdict['kind'], string> = {
  holds: 'holds',
  broken: 'BROKEN',
  'not checked': 'not checked',
}

function remarkOf(verdict: Verdict): string {
  if (verdict.kind === 'holds') return ''
  return verdict.kind === 'broken' ? verdict.problem.replaceAll(/\s+/g, ' ') : verdict.reason
}

function summary(results: readonly Result[]): string {
  const count = (kind: Verdict['kind']): number =>
    results.filter(({ verdict }) => verdict.kind === kind).length
  return `${results.length} facts: ${count('holds')} hold, ${count('broken')} broken, ${count('not checked')} not checked`
}

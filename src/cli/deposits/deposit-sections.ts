import type { Matrix } from '../../core/judging/matrix.ts'
import {
  type DepositDetail,
  journalTitle,
  matrixColumns,
  matrixRows,
  transferColumns,
} from '../../presentation/deposit.ts'
import type { Fact } from '../../presentation/words.ts'
import { table } from '../print.ts'

export function matrixTable(matrix: Matrix): string {
  return table(matrixRows(matrix), matrixColumns)
}

export function journalText(journal: DepositDetail['journals'][number]): string {
  return `${journalTitle(journal)}\n${indent(table(journal.transfers, transferColumns))}`
}

/** Each name before its first line, padded to the longest name. */
export function factsText(facts: readonly Fact[], width: number): string {
  return facts
    .flatMap(({ name, lines }) =>
      lines.map((line, place) => `  ${(place === 0 ? name : '').padEnd(width)} ${line}\n`),
    )
    .join('')
}

export function section(title: string, text: string): string {
  return `\n  ${title}\n${indent(indent(text))}`
}

export function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ')
}

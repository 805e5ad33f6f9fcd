import { Fault } from '../../core/errors.ts'
import {
  type Advice,
  adviceOf,
  historyColumns,
  type MismatchDetail,
  mismatchFacts,
} from '../../presentation/mismatch.ts'
import { wordOf } from '../../presentation/words.ts'
import { type ShownMismatch, showMismatch } from '../../store/mismatches/show-mismatch.ts'
import { type Context, withDatabase } from '../context.ts'
import { factsText } from '../deposits/deposit-sections.ts'
import { printable, printJson, table } from '../print.ts'
import { mismatchIds } from './case-options.ts'
import { causedDocument, historyDocument } from './mismatch-document.ts'

export async function showMismatchCommand(
  context: Context,
  word: string,
  { json }: { json?: boolean },
): Promise<void> {
  const [id = 0n] = mismatchIds([word])
  const shown = await withDatabase(context, (db) => showMismatch(db, id))
  if (shown === null) {
    throw new Fault('not_found', {
      problem: `there is no mismatch ${id}`,
      fix: 'take a number from "bin/depositd mismatches list --all"',
    })
  }
  const advice = adviceOf(shown)
  if (json === true) printJson(context, { ...documentOf(shown), ...advice })
  else context.stdout.write(printable(textOf(shown, advice)))
}

function documentOf({ mismatch, deposit, history }: ShownMismatch): object {
  return {
    mismatch: causedDocument(mismatch),
    deposit,
    history: history.map((line) => historyDocument(line, mismatch)),
  }
}

function textOf(shown: MismatchDetail, advice: Advice): string {
  const { mismatch, history } = shown
  const past = table(history, historyColumns(mismatch)).replaceAll(/^(?=.)/gm, '    ')
  const title = `mismatch ${wordOf(mismatch.id)}: ${mismatch.kind} (${mismatch.severity}), ${mismatch.status}`
  return `${title}\n${factsText(mismatchFacts(shown, advice), 9)}\n  history\n${past}`
}

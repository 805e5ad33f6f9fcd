import { Fault } from '../../core/errors.ts'
import { makeProof, type Proof } from '../../ledger/seals/proof.ts'
import type { Database } from '../../store/database.ts'
import { journalNamed, readJournals, type StoredJournal } from '../../store/ledger/sealed-rows.ts'
import { sealOfJournal } from '../../store/ledger/seals.ts'
import type { Tables } from '../../store/tables.ts'
import { type Context, withDatabase } from '../context.ts'
import { type News, printJson } from '../print.ts'
import { writeOut } from '../write-out.ts'

type ProveOptions = { out: string; json?: boolean }

/** Writes the proof that a journal is part of its seal. Bad news if it is not, or no longer. */
export async function proveJournalCommand(
  context: Context,
  name: string,
  { out, json }: ProveOptions,
): Promise<News> {
  const { seal, proof } = await withDatabase(context, (db) => prove(db, name))
  if (proof === null) {
    if (json === true) printJson(context, { proved: false, file: null, seal: { number: seal } })
    else
      context.stdout.write(
        `NOT PROVED: seal ${seal} is broken; "bin/depositd ledger verify" tells what is wrong\n`,
      )
    return 'bad'
  }
  writeOut(out, `${JSON.stringify(proof, null, 2)}\n`)
  if (json === true) printJson(context, { proved: true, file: out, seal: proof.seal })
  else context.stdout.write(`${out}: it is sealed by seal ${seal}, ${proof.seal.hash}\n`)
  return 'good'
}

async function prove(db: Database<Tables>, name: string): Promise<{ seal: string; proof: Proof | null }> {
  const id = await journalNamed(db, name)
  if (id === null) {
    throw new Fault('not_found', {
      problem: `there is no journal ${name}`,
      fix: 'give its number or its posting key, as accounting.journal has them',
    })
  }
  const seal = await sealOfJournal(db, id)
  if (seal === null) {
    throw new Fault('usage_bad', {
      problem: `journal ${name} is not sealed yet`,
      fix: 'run "bin/depositd ledger seal", or wait for the next one',
    })
  }
  const journals: StoredJournal[] = []
  const after = seal.number === '1' ? null : seal.after
  for await (const page of readJournals(db, { after, last: seal.last })) journals.push(...page.journals)
  return { seal: seal.number, proof: makeProof(seal, journals, id.toString()) }
}

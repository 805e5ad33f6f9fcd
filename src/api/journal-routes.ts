import type { Transaction } from 'kysely'
import type { z } from 'zod'
import { documentAmount } from '../presentation/mismatch-sentence.ts'
import { readAssetNames } from '../store/assets.ts'
import { showNumberedDeposit } from '../store/books/show-deposits.ts'
import { type BookedJournal, readJournal } from '../store/ledger/journals.ts'
import { journalLeaves, proveRow } from '../store/ledger/row-proof.ts'
import type { Tables } from '../store/tables.ts'
import { areAccountsSeen, isDepositSeen } from './deposit-documents.ts'
import { notFound, refusal } from './problem.ts'
import { defineRoute, type ReadApi } from './route.ts'
import { journalProof, numberedPath, shownJournal } from './schemas.ts'

const whoMay =
  'With `read_books`, or with `read_deposits` for a journal of a deposit. A token that is limited to owners or services sees those of its deposits that name no account of another owner.'

const showRoute = defineRoute({
  method: 'get',
  path: '/v1/journals/{id}',
  scope: 'any',
  summary: 'Show a journal',
  description: `Its transfers, and its hash in the log. ${whoMay}`,
  parameters: numberedPath,
  status: 200,
  answer: shownJournal,
  refusals: ['scope_insufficient', 'not_found'],
  run: (api, { parameters: { id } }) =>
    api.read(async (tx) => {
      const journal = await seenJournal(api, tx, BigInt(id))
      const leaves = await journalLeaves(tx, [journal.id])
      const assets = Object.fromEntries(await readAssetNames(tx))
      return {
        id,
        posting_key: journal.key,
        kind: journal.kind,
        deposit_id: textOf(journal.depositId),
        event_at: journal.eventAt.toISOString(),
        recorded_at: journal.recordedAt.toISOString(),
        period: journal.period.slice(0, 7),
        reverses: textOf(journal.reverses),
        reversed_by: textOf(journal.reversedBy),
        transfers: journal.transfers.map(({ debit, credit, asset, amount }) => ({
          debit,
          credit,
          amount: documentAmount(asset, amount, assets),
        })),
        leaf_hash: leaves.get(journal.id) ?? '',
        links: {
          self: `/v1/journals/${id}`,
          proof: `/v1/journals/${id}/proof`,
          deposit: journal.depositId === null ? null : `/v1/deposits/${journal.depositId}`,
        },
        as_of: api.asOf.toISOString(),
      }
    }),
})

function textOf(id: bigint | null): string | null {
  return id?.toString() ?? null
}

/** @throws Fault `request_refused` */
async function seenJournal(api: ReadApi, tx: Transaction<Tables>, id: bigint): Promise<BookedJournal> {
  const { scopes, services, owners } = api.token
  const mayReadBooks = scopes.includes('read_books')
  if (!mayReadBooks && !scopes.includes('read_deposits'))
    throw refusal('scope_insufficient', 'this call needs a token with the scope read_books or read_deposits')
  const journal = await readJournal(tx, id)
  const seesAll = mayReadBooks && services === null && owners === null
  if (journal === null || !(seesAll || (await isOfSeenDeposit(api, tx, journal))))
    throw notFound('journal', id)
  return journal
}

async function isOfSeenDeposit(
  api: ReadApi,
  tx: Transaction<Tables>,
  { depositId, transfers }: BookedJournal,
): Promise<boolean> {
  if (depositId === null || !areAccountsSeen(transfers, api)) return false
  const deposit = await showNumberedDeposit(tx, depositId, 0)
  return deposit !== null && isDepositSeen(deposit, api)
}

/** Within this time, a daemon seals and makes a checkpoint unless its schedule says otherwise. */
const sealedWithinSeconds = 20

const proofRoute = defineRoute({
  method: 'get',
  path: '/v1/journals/{id}/proof',
  scope: 'any',
  summary: 'Prove that the log includes a journal',
  description: `The files that \`bin/depositd ledger prove\` writes, which are checked without depositd. Refused until a checkpoint covers the journal. ${whoMay}`,
  parameters: numberedPath,
  status: 200,
  answer: journalProof,
  refusals: ['scope_insufficient', 'not_found', 'proof_pending', 'seal_broken'],
  run: (api, { parameters: { id } }) =>
    api.read(async (tx) => {
      const journal = await seenJournal(api, tx, BigInt(id))
      return { journal_id: id, ...(await proofOf(tx, journal)), as_of: api.asOf.toISOString() }
    }),
})

type JournalProof = Omit<z.output<typeof journalProof>, 'journal_id' | 'as_of'>

async function proofOf(tx: Transaction<Tables>, { id, recordedAt }: BookedJournal): Promise<JournalProof> {
  const proved = await proveRow(tx, 'ledger_journal', id)
  if (proved.kind === 'included') {
    const { leafHash, index, size, leaf, proof } = proved
    return { leaf_hash: leafHash, index, size, leaf, proof }
  }
  if (proved.kind === 'uncovered') {
    const since = `no checkpoint covers journal ${id} yet, which was booked at ${recordedAt.toISOString()}`
    throw refusal(
      'proof_pending',
      `${since}; the next one does, within ${sealedWithinSeconds} s by default`,
      {
        headers: { 'retry-after': `${sealedWithinSeconds}` },
      },
    )
  }
  throw refusal(
    'seal_broken',
    `journal ${id} differs from what was sealed; "bin/depositd ledger verify" shows the difference`,
  )
}

export const journalRoutes = [showRoute, proofRoute]

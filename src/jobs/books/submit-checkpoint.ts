import { Fault, messageOf } from '../../core/errors.ts'
import { readResponse } from '../../http/read-response.ts'
import { isSignedBy, readCheckpoint, type Witness, writeConsistency } from '../../ledger/checkpoint.ts'
import { consistencyProof } from '../../ledger/merkle-tree.ts'
import type { Database } from '../../store/database.ts'
import {
  hashReader,
  insertCosignature,
  newestCheckpoint,
  type StoredCheckpoint,
  sizeCosigned,
} from '../../store/ledger/seals.ts'
import type { Tables } from '../../store/tables.ts'

const timeoutMs = 10_000
/** An answer of a witness is shorter. */
const answerMax = 16 * 1024

/**
 * Has the newest checkpoint confirmed.
 * @returns why the witness refuses it; null if it is confirmed
 * @throws Fault `remote_failed` if the witness does not answer, or does not know the log
 */
export async function submitCheckpoint(db: Database<Tables>, witness: Witness): Promise<string | null> {
  const newest = await newestCheckpoint(db)
  if (newest === null || newest.signedBy === 'unsigned') return null
  const confirmed = await sizeCosigned(db, witness.key.name)
  if (confirmed === newest.size) return null
  const first = await submit(db, witness, { newest, old: confirmed })
  const known = sizeIn(first)
  if (known !== null && known > newest.size)
    return `${witness.key.name} confirmed ${known} rows, and the log has ${newest.size}: rows are missing`
  const answer = known === null ? first : await submit(db, witness, { newest, old: known })
  if (answer.status === 409 || answer.status === 422)
    return `${witness.key.name} refuses the log of ${newest.size} rows: it does not continue the one that it confirmed`
  await keepSignature(db, witness, { newest, answer })
  return null
}

/** The size that the witness confirmed last, if it was asked about another. */
function sizeIn({ status, text }: WitnessReply): number | null {
  return status === 409 && /^\d{1,15}\n$/.test(text) ? Number(text) : null
}

async function keepSignature(
  db: Database<Tables>,
  witness: Witness,
  { newest, answer }: { newest: StoredCheckpoint; answer: WitnessReply },
): Promise<void> {
  if (answer.status !== 200)
    throw failure(witness, `HTTP ${answer.status}: ${answer.text.slice(0, 100).trim()}`)
  const signed = readCheckpoint(newest.note + answer.text)
  if (signed === null || !isSignedBy(signed, witness.key))
    throw failure(witness, 'its signature is not valid')
  await insertCosignature(db, { size: newest.size, witness: witness.key.name, lines: answer.text })
}

type WitnessReply = { status: number; text: string }

async function submit(
  db: Database<Tables>,
  witness: Witness,
  { newest, old }: { newest: StoredCheckpoint; old: number },
): Promise<WitnessReply> {
  const proof = await consistencyProof(hashReader(db), old, newest.size)
  try {
    const response = await fetch(`${witness.url.replace(/\/+$/, '')}/add-checkpoint`, {
      method: 'POST',
      body: writeConsistency(old, proof, newest.note),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const answer = await readResponse(response, { bytesMax: answerMax, problem: 'its answer is too large' })
    return { status: response.status, text: answer.toString() }
  } catch (error) {
    throw failure(witness, messageOf(error), error)
  }
}

function failure({ key, url }: Witness, problem: string, cause?: unknown): Fault<'remote_failed'> {
  const what = `the witness ${key.name} at ${new URL(url).host}`
  return new Fault('remote_failed', { what, problem }, { cause })
}

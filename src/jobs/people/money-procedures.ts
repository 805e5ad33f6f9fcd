import { randomUUID } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import { Fault } from '../../core/errors.ts'
import { type TransferDecision, transferRef } from '../../core/evidence.ts'
import { isWithinLimit } from '../../core/second-person.ts'
import type { JsonValue } from '../../people/decision.ts'
import { unlessDryRun } from '../../store/database.ts'
import {
  evidenceOfDeposits,
  evidenceOfTransfer,
  insertDecision,
  journalTexts,
  nameDeciders,
} from '../../store/decisions.ts'
import {
  lockCasesFor,
  lossesOf,
  type MismatchCase,
  standingOf,
  workOnCases,
} from '../../store/mismatches/cases.ts'
import type { Tables } from '../../store/tables.ts'
import {
  findMatch,
  findWriteOff,
  type MatchChange,
  type MoneyDeps,
  type MoneySubject,
  type OutcomeText,
  outcomeText,
  recordMoney,
  type WriteOffChange,
} from '../books/decide-money.ts'
import type { DecisionProcedure, PreparedDecision } from './decide.ts'

/** Only decisions about money need the settings: policy, profiles, limits. */
export type LoadMoneyDeps = (db: Kysely<Tables>) => Promise<MoneyDeps>

export function writeOffProcedure(load: LoadMoneyDeps): DecisionProcedure {
  return (db, change, at) =>
    moneyDecision({ db, load, at, reason: (change as WriteOffChange).reason }, (tx) =>
      findWriteOff(tx, change as WriteOffChange),
    )
}

export function matchProcedure(load: LoadMoneyDeps): DecisionProcedure {
  return (db, change, at) =>
    moneyDecision({ db, load, at, reason: (change as MatchChange).reason }, (tx) =>
      findMatch(tx, change as MatchChange),
    )
}

/** Ends mismatches that may be losses: their numbers. It books nothing. */
export type ResolveChange = { mismatches: string[]; reason: string }

export function resolveProcedure(load: LoadMoneyDeps): DecisionProcedure {
  return async (db, change) => {
    const { mismatches, reason } = change as ResolveChange
    const ids = mismatches.map(BigInt)
    const { secondPersonAbove } = await load(db)
    const losses = await lossesOf(db, ids)
    return {
      people: losses.every((loss) => isWithinLimit(loss, secondPersonAbove)) ? 1 : 2,
      async grounds(tx) {
        const cases = await lockCasesFor(tx, ids, 'resolved')
        const deposits = cases.map(({ depositId }) => depositId).filter((id) => id !== null)
        return { evidence: await evidenceOfDeposits(tx, deposits), books: cases.map(resolutionBook) }
      },
      carryOut: (tx, { decision, by, approvedBy }) =>
        workOnCases(tx, ids, { action: 'resolved', text: reason, actor: by, approvedBy, decision }),
    }
  }
}

/** As `accounting.mismatch_history` has it. */
function resolutionBook(one: MismatchCase): JsonValue {
  const { id, kind, subject } = one
  return { mismatch: id.toString(), kind, subject, ...standingOf(one) }
}

type Find = (tx: Transaction<Tables>) => Promise<MoneySubject>

async function moneyDecision(
  { db, load, at, reason }: { db: Kysely<Tables>; load: LoadMoneyDeps; at: Date; reason: string },
  find: Find,
): Promise<PreparedDecision> {
  const deps = { ...(await load(db)), at }
  // In a transaction of its own: Postgres takes no transfers of a journal that a savepoint wrote.
  const { atStake, books } = await unlessDryRun(db, async (tx) => ({
    result: await tried(tx, { deps, reason }, find),
    isKept: false,
  }))
  return {
    people: isWithinLimit(atStake, deps.secondPersonAbove) ? 1 : 2,
    async grounds(tx) {
      const subject = await find(tx)
      return {
        evidence: await evidenceOfTransfer(tx, transferRef(subject.stake)),
        books: [about(subject), ...books],
      }
    },
    async carryOut(tx, { decision, uuid, by, approvedBy }) {
      const subject = await find(tx)
      const journals = await recordMoney(tx, subject, { ...deps, id: uuid, decision, by, approvedBy, reason })
      if (JSON.stringify(await journalTexts(tx, journals)) !== JSON.stringify(books))
        throw new Fault('usage_bad', {
          problem: 'new evidence changes what it books',
          fix: 'try again; nothing was decided',
        })
      await nameDeciders(tx, journals, { decision, by, approvedBy, reason })
      return { ...about(subject), journals }
    },
  }
}

/** Does all of it, to read what it books: what people sign is exactly that. */
async function tried(
  tx: Transaction<Tables>,
  { deps, reason }: { deps: MoneyDeps & { at: Date }; reason: string },
  find: Find,
): Promise<Pick<MoneySubject, 'atStake'> & { books: JsonValue[] }> {
  const subject = await find(tx)
  const trial = { id: randomUUID(), by: 'trial', approvedBy: null, reason }
  const decision = await insertDecision(tx, { decision: trial.id, kind: 'match', people: 1 }, 'trial')
  const journals = await recordMoney(tx, subject, { ...deps, ...trial, decision })
  return { atStake: subject.atStake, books: await journalTexts(tx, journals) }
}

/** As in the text that people sign. */
export type DecidedMoney = {
  role: TransferDecision['role']
  transfer: string
  to: string
  verdict: OutcomeText
}

function about({ stake, verdict }: MoneySubject): DecidedMoney {
  return { role: stake.role, transfer: transferRef(stake), to: stake.to, verdict: outcomeText(verdict) }
}

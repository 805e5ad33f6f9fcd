import { sql, type Transaction } from 'kysely'
import { ownerKey } from '../../core/address-book.ts'
import type { Address, NetworkName } from '../../core/asset.ts'
import type { DepositIdentity } from '../../core/decide.ts'
import {
  decodeObservation,
  encodeObservation,
  type Observation,
  type Owner,
  transferRef,
} from '../../core/evidence.ts'
import type { Milestones } from '../../core/lag.ts'
import type { Approval } from '../../core/matching/divide.ts'
import { compareText } from '../../core/matching/fold.ts'
import type { Journal } from '../../core/posting.ts'
import { asTable } from '../database.ts'
import { readOpenedAt, readTransfers, type TransferTexts, transfersOf } from '../ledger/journals.ts'
import type { Tables } from '../tables.ts'

export type LinkedObservation = { inboxId: bigint; groupId: bigint; observation: Observation }

/** Applying a row again changes only its group. */
export async function saveEvidence(
  tx: Transaction<Tables>,
  linked: readonly LinkedObservation[],
): Promise<void> {
  const observations = linked.map(({ observation }) => encodeObservation(observation))
  await sql`
    insert into evidence (inbox_id, group_id, observation)
    select * from rows from (
      unnest(${linked.map(({ inboxId }) => inboxId)}::bigint[], ${linked.map(({ groupId }) => groupId)}::bigint[]),
      jsonb_array_elements(${`[${observations.join(',')}]`}::jsonb)
    ) as linked (inbox_id, group_id, observation)
    on conflict (inbox_id) do update set group_id = excluded.group_id`.execute(tx)
}

export type LoadedGroup = {
  id: bigint
  observations: Observation[]
  /** In order, with the service's ids of the deposits that they report. */
  webhooks: { inboxId: bigint; serviceId: string }[]
  approvals: Approval[]
  deposits: DepositIdentity[]
  journals: Journal[]
  openedAt: Date | null
}

/**
 * At most six statements, however many groups there are.
 * @param atHand evidence of these groups that was just stored and is not read again
 */
export async function loadGroups(
  tx: Transaction<Tables>,
  ids: readonly bigint[],
  atHand: readonly LinkedObservation[] = [],
): Promise<LoadedGroup[]> {
  const groups = new Map(
    ids.map((id): [bigint, LoadedGroup] => [
      id,
      { id, observations: [], webhooks: [], approvals: [], deposits: [], journals: [], openedAt: null },
    ]),
  )
  const evidence = [...(await evidenceOf(tx, ids, atHand)), ...atHand]
  for (const linked of evidence) addEvidence(groups.get(linked.groupId), linked)
  for (const { group_id, ...deposit } of await depositsOf(tx, ids))
    groups.get(group_id)?.deposits.push(deposit)
  for (const { group_id, ...journal } of await journalsOf(tx, ids))
    groups.get(group_id)?.journals.push(journal)
  const all = [...groups.values()]
  await addWithdrawalJournals(tx, all)
  const approvals = await approvalsOf(
    tx,
    all.flatMap(({ observations }) => observations),
  )
  const openedAt = await readOpenedAt(tx)
  for (const group of all) {
    group.openedAt = openedAt
    const keys = new Set(group.observations.flatMap(keysOf))
    const own = new Set([...keys].flatMap((key) => approvals.get(key) ?? []))
    // In an order that does not depend on the order of the evidence.
    group.approvals.push(...[...own].toSorted((one, other) => compareText(placeKey(one), placeKey(other))))
  }
  return all
}

function addEvidence(group: LoadedGroup | undefined, { inboxId, observation }: LinkedObservation): void {
  group?.observations.push(observation)
  if (observation.kind === 'claim' && observation.source === 'webhook')
    group?.webhooks.push({ inboxId, serviceId: observation.serviceId })
}

type ObservedDepositAddress = { network: NetworkName; address: Address }

function placeOf(observation: Observation): ObservedDepositAddress {
  if (observation.kind === 'claim') return observation.deposit
  return { network: observation.network, address: observation.to }
}

function keysOf(observation: Observation): string[] {
  const place = placeOf(observation)
  if (observation.kind !== 'claim') return [placeKey(place)]
  return observation.owner === null ? [placeKey(place)] : [placeKey(place), ownerLookupKey(observation.owner)]
}

function placeKey({ network, address }: ObservedDepositAddress): string {
  return `${network}/${address}`
}

function ownerLookupKey(owner: Owner): string {
  return `owner ${ownerKey(owner)}`
}

async function evidenceOf(
  tx: Transaction<Tables>,
  ids: readonly bigint[],
  atHand: readonly LinkedObservation[],
): Promise<LinkedObservation[]> {
  const { rows } = await sql<{ inbox_id: bigint; group_id: bigint; text: string }>`
    select inbox_id, group_id, observation::text as text from evidence
    where group_id = any(${ids}::bigint[]) and inbox_id not in (
      select unnest(${atHand.map(({ inboxId }) => inboxId)}::bigint[]))
    order by inbox_id`.execute(tx)
  return rows.map(({ inbox_id, group_id, text }) => ({
    inboxId: inbox_id,
    groupId: group_id,
    observation: decodeObservation(text),
  }))
}

type DepositIdentityRow = Omit<DepositIdentity, 'milestones'> & Milestones & { group_id: bigint }

async function depositsOf(tx: Transaction<Tables>, ids: readonly bigint[]) {
  const { rows } = await sql<DepositIdentityRow>`
    select group_id, id, service_id as "serviceId", transfer, deposited_at as "depositedAt",
      webhook_at as "webhookAt", api_at as "apiAt", chain_at as "chainAt", final_at as "finalAt",
      settled_at as "settledAt", reconciled_at as "reconciledAt"
    from deposit where group_id = any(${ids}::bigint[]) and merged_into is null order by id`.execute(tx)
  return rows.map(({ group_id, id, serviceId, transfer, ...milestones }) => ({
    group_id,
    id,
    serviceId,
    transfer,
    milestones,
  }))
}

type JournalRow = Omit<Journal, 'transfers'> & TransferTexts

const journalColumns = sql`j.posting_key as key, j.kind, j.transfer, j.deposit_id as "depositId",
  j.event_at as "eventAt", (select posting_key from ledger_journal r where r.id = j.reverses) as reverses,
  ${transfersOf} as transfers`

async function journalsOf(tx: Transaction<Tables>, ids: readonly bigint[]) {
  const { rows } = await sql<JournalRow & { group_id: bigint }>`
    select d.group_id, ${journalColumns}
    from deposit d join ledger_journal j on j.deposit_id = d.id
    where d.group_id = any(${ids}::bigint[]) and j.transfer is not null order by j.id`.execute(tx)
  return rows.map((row) => ({ ...row, transfers: readTransfers(row) }))
}

/** Those of withdrawals belong to no deposit: they are found by the transfers that the group has. */
async function addWithdrawalJournals(tx: Transaction<Tables>, groups: readonly LoadedGroup[]): Promise<void> {
  const withdrawing = groups.filter(({ observations }) => observations.some(isWithdrawal))
  if (withdrawing.length === 0) return
  const groupOf = new Map(
    withdrawing.flatMap((group) =>
      group.observations.flatMap((one) =>
        one.kind === 'chain_transfer' && one.role === 'recipient' ? [[transferRef(one), group] as const] : [],
      ),
    ),
  )
  const { rows } = await sql<JournalRow>`
    select ${journalColumns} from ledger_journal j
    where j.deposit_id is null and j.transfer = any(${[...groupOf.keys()]}::text[]) order by j.id`.execute(tx)
  for (const row of rows) groupOf.get(row.transfer)?.journals.push({ ...row, transfers: readTransfers(row) })
}

function isWithdrawal({ kind }: Observation): boolean {
  return kind === 'withdrawal'
}

async function approvalsOf(
  tx: Transaction<Tables>,
  observations: readonly Observation[],
): Promise<Map<string, Approval[]>> {
  const places = distinct(observations.map(placeOf), placeKey)
  const owners = distinct(
    observations.flatMap((one) => (one.kind === 'claim' && one.owner !== null ? [one.owner] : [])),
    ownerLookupKey,
  )
  const { rows } = await sql<
    ObservedDepositAddress & {
      kind: Owner['kind']
      id: string
      forward_network: NetworkName | null
      forward_recipient: Address | null
      valid_from: Date | null
      valid_until: Date | null
    }
  >`
    select b.network, b.address, o.kind, o.id, o.forward_network, o.forward_recipient, b.valid_from, b.valid_until
    from accounting.address_book b join owner o on o.kind = b.owner_kind and o.id = b.owner_id
    where b.role = 'deposit' and (b.network, b.address) in (
      select * from ${asTable('stated', places, 'network text, address text')}
      union
      select network, address from address_book where (owner_kind, owner_id) in (
        select * from ${asTable('stated', owners, 'kind text, id text')}
      )
    )
    order by b.network, b.address`.execute(tx)
  const approvals = new Map<string, Approval[]>()
  for (const { network, address, kind, id, forward_network, forward_recipient, ...validity } of rows) {
    const forward =
      forward_network && forward_recipient ? { network: forward_network, recipient: forward_recipient } : null
    const { valid_from: startsAt, valid_until: endsAt } = validity
    const approval: Approval = { network, address, owner: { kind, id }, forward, startsAt, endsAt }
    for (const key of [placeKey(approval), ownerLookupKey(approval.owner)])
      approvals.set(key, [...(approvals.get(key) ?? []), approval])
  }
  return approvals
}

/** Many observations of one group have few distinct addresses and owners. */
function distinct<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()]
}

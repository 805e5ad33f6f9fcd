import type { z } from 'zod'
import type { DepositState } from '../core/judging/reconcile.ts'
import { amountsOfDetail, documentAmount, mismatchSentence } from '../presentation/mismatch-sentence.ts'
import type { CreditedDeposit, CreditReport, ReportedDeposit } from '../store/books/list-deposits.ts'
import type { DepositReport } from '../store/books/show-deposits.ts'
import type { MismatchLine } from '../store/mismatches/show-mismatches.ts'
import type { ReadApi } from './route.ts'
import type { listedDeposit, listedMismatch, money, shownDeposit } from './schemas.ts'

type Money = z.output<typeof money>

type MoneyColumns = {
  amount: string | null
  base: string | null
  symbol: string | null
  asset: string | null
}

/** Null without an amount. */
export function moneyOf({ amount, base, symbol, asset }: MoneyColumns): Money | null {
  if (base === null || asset === null) return null
  return { amount, amount_base: base, asset_symbol: symbol, asset }
}

export function isoOf(at: Date | null): string | null {
  return at?.toISOString() ?? null
}

type Reader = Pick<ReadApi, 'networks' | 'token'>

export function depositDocument(
  { deposit: row, credit }: CreditedDeposit,
  reader: Reader,
): z.output<typeof listedDeposit> {
  const { owner_kind: kind, owner_id: owner } = row
  return {
    id: row.id,
    service: row.service,
    service_id: row.service_id,
    state: row.state as DepositState,
    owner: kind === null || owner === null ? null : { kind: kind as 'channel', id: owner },
    deposit: {
      network: row.network,
      address: row.address,
      tx: row.tx,
      amount: moneyOf({
        amount: row.amount,
        base: row.amount_base,
        symbol: row.asset_symbol,
        asset: row.asset,
      }),
    },
    settlement: settlementOf(row),
    fee: moneyOf({
      amount: row.fee,
      base: row.fee_base,
      symbol: row.fee_asset_symbol,
      asset: row.fee_asset,
    }),
    credit: creditDocument(credit),
    deposited_at: isoOf(row.deposited_at),
    final_at: isoOf(row.final_at),
    settled_at: isoOf(row.settled_at),
    reconciled_at: isoOf(row.reconciled_at),
    links: linksOf(row, reader),
  }
}

function linksOf(row: ReportedDeposit, { networks }: Reader): z.output<typeof listedDeposit>['links'] {
  const { id, owner_id: owner } = row
  const explorerOf = (network: string | null, tx: string | null) => {
    const address = networks.find(({ name }) => name === network)?.explorer
    return tx === null || address === undefined ? null : address.replace('{tx}', tx)
  }
  return {
    self: `/v1/deposits/${id}`,
    evidence: `/v1/deposits/${id}/evidence`,
    mismatches: `/v1/mismatches?deposit=${id}&status=all`,
    statement: owner === null ? null : `/v1/owners/${encodeURIComponent(owner)}/statement`,
    explorer: {
      deposit: explorerOf(row.network, row.tx),
      settlement: explorerOf(row.settlement_network, row.settlement_tx),
    },
  }
}

function creditDocument({
  safe,
  since,
  reason,
  finality,
  proof,
  ...money
}: CreditReport): z.output<typeof listedDeposit>['credit'] {
  const { amount, amount_base: base, asset_symbol: symbol, asset } = money
  return {
    safe,
    amount: moneyOf({ amount, base, symbol, asset }),
    since: isoOf(since),
    reason,
    finality,
    proof,
  }
}

function settlementOf(row: ReportedDeposit): z.output<typeof listedDeposit>['settlement'] {
  const { settlement_network: network, settlement_address: address, settlement_tx: tx } = row
  const amount = moneyOf({
    amount: row.settlement_amount,
    base: row.settlement_amount_base,
    symbol: row.settlement_asset_symbol,
    asset: row.settlement_asset,
  })
  return network === null && address === null && tx === null && amount === null
    ? null
    : { network, address, tx, amount }
}

export function mismatchDocument(line: MismatchLine, { token }: Reader): z.output<typeof listedMismatch> {
  const { id, deposit_id: deposit, kind, severity, status, service, network, assigned_to, detail } = line
  const isLimited = token.owners !== null
  return {
    id,
    deposit_id: deposit,
    service,
    network: network === '' ? null : network,
    kind,
    severity: severity as 'info',
    status,
    amount: moneyOf({
      amount: line.amount === '' ? null : line.amount,
      base: line.amount_base,
      symbol: line.asset_symbol,
      asset: line.asset,
    }),
    loss: moneyOf({
      amount: line.loss,
      base: line.loss_base,
      symbol: line.loss_asset_symbol,
      asset: line.loss_asset,
    }),
    assigned_to,
    opened_at: line.opened_at.toISOString(),
    act_by: isoOf(line.act_by),
    resolved_at: isoOf(line.resolved_at),
    cleared_at: isoOf(line.cleared_at),
    subject: isLimited ? null : line.subject,
    says: isLimited ? null : mismatchSentence(line),
    detail: isLimited ? null : detail,
    amounts: isLimited ? null : amountsOfDetail(line),
    links: { self: `/v1/mismatches/${id}`, deposit: deposit === null ? null : `/v1/deposits/${deposit}` },
  }
}

type Journals = z.output<typeof shownDeposit>['journals']

/** A token that is limited to owners sees no journal that names an account of another one. */
export function journalDocuments({ journals, assets }: DepositReport, reader: Reader): Journals {
  return journals
    .filter(({ transfers }) => areAccountsSeen(transfers, reader))
    .map(({ id, posting_key, event_at, transfers }) => ({
      id,
      posting_key,
      event_at: new Date(event_at).toISOString(),
      transfers: transfers.map(({ debit, credit, asset, amount_base: base }) => ({
        debit,
        credit,
        amount: documentAmount(asset, BigInt(base), assets),
      })),
    }))
}

export function areAccountsSeen(
  transfers: readonly { debit: string; credit: string }[],
  reader: Pick<Reader, 'token'>,
): boolean {
  return transfers.every(({ debit, credit }) => isAccountSeen(debit, reader) && isAccountSeen(credit, reader))
}

export function isAccountSeen(account: string, { token: { owners } }: Pick<Reader, 'token'>): boolean {
  const owner = ownerOfAccount(account)
  return owners === null || owner === null || owners.includes(owner)
}

function ownerOfAccount(account: string): string | null {
  return /^(?:\w+:\w+:(?:channel|stable_wallet)|assets:stable_wallet):(.+)$/.exec(account)?.[1] ?? null
}

export function isDepositSeen(
  { deposit }: Pick<DepositReport, 'deposit'>,
  { token: { services, owners } }: Pick<Reader, 'token'>,
): boolean {
  const isOfService = services === null || services.includes(deposit.service)
  return isOfService && (owners === null || owners.includes(deposit.owner_id ?? ''))
}

/**
 * I7: what two daemons must agree in that were told the same, whatever happened to them meanwhile: a line each. Numbers
 * that a database gave and times at which something was noticed are not of it.
 */
export const sameInBoth = {
  deposits: `
    select jsonb_build_object('service_id', service_id, 'transfer', transfer, 'state', state, 'matrix', matrix,
      'owner', concat_ws('/', owner_kind, owner_id), 'address', concat_ws('/', network, address), 'asset', asset,
      'amount', amount::text, 'tx', tx, 'delivered', concat_ws('/', settlement_network, settlement_address,
        settlement_asset, settlement_amount, settlement_tx), 'fee', fee_amount::text) as line
    from deposit where merged_into is null`,

  // A credit to a wallet is dated by the first word of it that was read, which is not the same for both.
  journals: `
    select jsonb_build_object('kind', journal.kind, 'transfer', journal.transfer,
      'event_at', case when bool_or(debit like 'assets:stable_wallet:%') then null
        else to_char(min(journal.event_at) at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') end,
      'legs', jsonb_agg(jsonb_build_array(debit, credit, asset, amount::text) order by debit, credit, asset, amount)
    ) as line
    from ledger_journal as journal join ledger_transfer as leg on leg.journal_id = journal.id
    where journal.kind <> 'reversal'
      and not exists (select from ledger_journal as later where later.reverses = journal.id)
    group by journal.id`,

  // Whether a clock is off is judged by the word that came last, which is another one where they came in another order.
  mismatches: `
    select jsonb_build_object('kind', mismatch.kind,
      'of', coalesce(deposit.transfer, deposit.service_id, inbox.source_key, subject), 'severity', severity,
      'network', mismatch.network, 'asset', mismatch.asset, 'value', value::text) as line
    from mismatch left join deposit on deposit.id = deposit_id
    left join inbox on subject = 'inbox/' || inbox.id
    where cleared_at is null and resolved_at is null and mismatch.kind <> 'clock_skew'
      and (deposit_id is not null or split_part(subject, '/', 1) in ('inbox', 'webhook', 'transfer', 'deposit'))`,
} as const satisfies Record<string, string>

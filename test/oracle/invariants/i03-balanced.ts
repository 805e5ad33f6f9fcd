const sides = `
  select journal_id, asset, debit as account, amount as debited, 0 as credited, event_at, recorded_at, period
  from ledger_transfer
  union all
  select journal_id, asset, credit, 0, amount, event_at, recorded_at, period from ledger_transfer`

/** I3: per asset, in total and per journal, the books sum to zero; and whatever is summed up beside them is their sum. */
export const i3 = {
  'every row moves more than nothing between two accounts of its asset': `
    select journal_id, leg, debit, credit, asset, amount from ledger_transfer as transfer
    where not amount > 0 or amount = 'NaN' or amount = 'Infinity' or debit = credit
      or not exists (select from ledger_account where (id, asset) = (transfer.debit, transfer.asset))
      or not exists (select from ledger_account where (id, asset) = (transfer.credit, transfer.asset))`,

  'every row is of a journal, with its times and its month, and every journal has rows': `
    select transfer.journal_id, transfer.leg from ledger_transfer as transfer
    left join ledger_journal as journal on journal.id = transfer.journal_id
    where (transfer.event_at, transfer.recorded_at, transfer.period)
      is distinct from (journal.event_at, journal.recorded_at, journal.period)
    union all
    select id, null from ledger_journal as journal
    where not exists (select from ledger_transfer where journal_id = journal.id)`,

  'entries sum to zero, in total and in each journal': `
    select null as journal_id, asset, sum(amount) from ledger_entry group by asset having sum(amount) <> 0
    union all
    select journal_id, asset, sum(amount) from ledger_entry group by journal_id, asset having sum(amount) <> 0`,

  'balances are the sums of the rows': `
    with found as (
      select account, asset, sum(debited - credited) as balance from (${sides}) as side group by account, asset
    )
    select account, asset, found.balance as summed, reported.balance as reported
    from found full join ledger_balance as reported using (account, asset)
    where found.balance is distinct from reported.balance`,

  'the trial balance is the sum of the rows': `
    with found as (
      select account, asset, sum(debited) as debit, sum(credited) as credit
      from (${sides}) as side group by account, asset
    )
    select account, asset, found.debit, found.credit, reported.debit_base, reported.credit_base
    from found full join accounting.trial_balance(now() + interval '1 day', now() + interval '1 day') as reported
      using (account, asset)
    where (found.debit, found.credit) is distinct from (reported.debit_base, reported.credit_base)`,

  'snapshots are the sums of their rows': `
    with side as (
      select (recorded_at at time zone 'UTC')::date as recorded, (event_at at time zone 'UTC')::date as event,
        account, asset, debited, credited
      from (${sides}) as side
    ), day as (
      select 'day' as span, recorded, event, account, asset, sum(debited) as debit, sum(credited) as credit from side
      where recorded in (select recorded from ledger_snapshot_day)
      group by recorded, event, account, asset
    ), month as (
      select 'month' as span, date_trunc('month', recorded)::date as recorded, date_trunc('month', event)::date as event,
        account, asset, sum(debited) as debit, sum(credited) as credit
      from side
      where (date_trunc('month', recorded) + interval '1 month - 1 day')::date
        in (select recorded from ledger_snapshot_day)
      group by 2, 3, account, asset
    ), found as (select * from day union all select * from month)
    select span, recorded, event, account, asset, found.debit, found.credit, kept.debit as kept_debit,
      kept.credit as kept_credit
    from found full join ledger_snapshot as kept using (span, recorded, event, account, asset)
    where (found.debit, found.credit) is distinct from (kept.debit, kept.credit)`,

  'the balances of a closed month are the sums up to its last journal': `
    with found as (
      select event.id as event_id, account, asset, sum(debited) as debit, sum(credited) as credit
      from ledger_period_event as event join (${sides}) as side
        on journal_id <= event.last_journal and side.period <= event.period
      where event.action = 'closed' group by event.id, account, asset
    )
    select event_id, account, asset, found.debit, found.credit, kept.debit as kept_debit, kept.credit as kept_credit
    from found full join ledger_period_balance as kept using (event_id, account, asset)
    where (found.debit, found.credit) is distinct from (kept.debit, kept.credit)`,
} as const satisfies Record<string, string>

/** Rows that are only ever added, each by what names it. A body is kept as its hash. */
const appended: Readonly<Record<string, string>> = {
  inbox: 'id',
  webhook_conflict: 'inbox_id',
  ledger_account: "concat_ws(' ', id, asset)",
  ledger_journal: 'id',
  ledger_transfer: "concat_ws('/', journal_id, leg)",
  manual_journal: 'journal_id',
  opening_lot: 'id',
  ledger_period_event: 'id',
  ledger_period_balance: "concat_ws(' ', event_id, account, asset)",
  seal: 'number',
  seal_node: "concat_ws('/', height, place)",
  checkpoint: "concat_ws('/', size, signed_by)",
  owner: 'number',
  address_book: 'id',
  address_end: 'id',
  price: 'id',
  rule_set: 'id',
  valuation_rule: 'id',
  valued_journal: 'id',
  valued_line: "concat_ws('/', valued_id, line)",
  disposal: "concat_ws('/', valued_id, line)",
  ledger_snapshot_day: 'recorded',
  ledger_snapshot: "concat_ws(' ', span, recorded, event, account, asset)",
  mismatch_event: 'id',
  credit_safety: 'id',
  event: 'sequence',
}

const bodies: Readonly<Record<string, string>> = { inbox: 'body', seal: 'hashes' }

function rowsOf([relation, key]: readonly [string, string]): string {
  const body = bodies[relation]
  const row =
    body === undefined
      ? 'to_jsonb(one)'
      : `to_jsonb(one) - '${body}' || jsonb_build_object('${body}', md5(${body}))`
  return `select '${relation}' as relation, (${key})::text as key, ${row} as row from public.${relation} as one`
}

const rows = Object.entries(appended).map(rowsOf).join(' union all ')

/** To be run after the question: the rows that are there now are those that must be there the next time. */
export const keepRows = `insert into hold.kept select relation, key, row from (${rows}) as now on conflict do nothing`

/** I4: nothing that was booked, sealed or received has changed or vanished since the last question. */
export const i4 = {
  'no row of what is only added to has changed or vanished': `
    select relation, key, kept.row, now.row as is_now from hold.kept
    left join (${rows}) as now using (relation, key)
    where now.row is null or not now.row @> kept.row`,

  'nothing stands in the books of before the last seal that no seal is over': `
    select journal.id, journal.recorded_at from ledger_journal as journal
    where id <= (select max(last_id) from seal where sealed_table = 'ledger_journal')
      and not exists (select from seal where sealed_table = 'ledger_journal'
        and journal.id > coalesce(after_id, -1) and journal.id <= last_id)`,
} as const satisfies Record<string, string>

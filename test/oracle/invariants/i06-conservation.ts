/** I6: each observation is in exactly one of matched, waiting, mismatched, reversed, quarantined, ignored. */
export const i6 = {
  'what came in is evidence, waits, was told of, or is no word about a deposit': `
    select inbox.id, source, source_key from inbox
    where not exists (select from evidence where inbox_id = inbox.id)
      and not exists (select from inbox_pending where inbox_id = inbox.id)
      and not exists (select from mismatch where subject = 'inbox/' || inbox.id)
      and (source <> 'webhook' or position('"deposit.' in encode(body, 'escape')) > 0)`,

  'what is evidence does not wait any more': `
    select inbox_id from evidence join inbox_pending using (inbox_id)`,

  'evidence is of a deposit, of a mismatch, or waits for a time': `
    select inbox_id, evidence.group_id from evidence join evidence_group on evidence_group.id = group_id
    where recheck_at is null
      and not exists (select from deposit where deposit.group_id = evidence.group_id)
      and not exists (select from mismatch where mismatch.group_id = evidence.group_id)`,

  'a deposit that is not at its end waits for a time, or a mismatch tells what is off': `
    select deposit.id, service_id, transfer, state, matrix from deposit
    join evidence_group on evidence_group.id = group_id
    where merged_into is null and state in ('observed', 'confirmed', 'settling', 'settled') and recheck_at is null
      and not exists (select from mismatch where deposit_id = deposit.id and cleared_at is null)`,

  'what was reversed, passed over or became another deposit has nothing in the books': `
    select deposit.id, state, merged_into, standing.id as journal from deposit
    join hold.standing on standing.deposit_id = deposit.id
    where standing.kind in ('deposit', 'settlement', 'refund')
      and (merged_into is not null or state in ('orphaned', 'ignored'))`,

  'of a deposit that is reconciled nothing is in transit': `
    select deposit.id, line.asset, sum(line.amount) from deposit
    join lateral (
      select transfer.asset, transfer.amount from hold.standing join ledger_transfer as transfer on journal_id = standing.id
      where standing.deposit_id = deposit.id and debit like 'assets:in_transit:%'
      union all
      select transfer.asset, -transfer.amount from hold.standing join ledger_transfer as transfer on journal_id = standing.id
      where standing.deposit_id = deposit.id and credit like 'assets:in_transit:%'
    ) as line on true
    where state = 'reconciled' group by deposit.id, line.asset having sum(line.amount) <> 0`,

  'every payment that is final and was read is one deposit': `
    select payment.transfer, count(deposit.id) from hold.final_payment as payment
    left join deposit on deposit.transfer = payment.transfer and merged_into is null
    group by payment.transfer having count(deposit.id) <> 1`,

  'the sums that were paid are the sums of the deposits': `
    select paid.network, paid.asset, paid.amount, known.amount as of_deposits from (
      select network, asset, sum(amount) as amount from hold.final_payment group by network, asset
    ) as paid left join (
      select payment.network, payment.asset, sum(deposit.amount) as amount
      from hold.final_payment as payment join deposit on deposit.transfer = payment.transfer and merged_into is null
      group by payment.network, payment.asset
    ) as known using (network, asset)
    where paid.amount is distinct from known.amount`,
} as const satisfies Record<string, string>

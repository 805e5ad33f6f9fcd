/** I8: nothing is booked before it is final, and what the chain took back is withdrawn. */
export const i8 = {
  'what stands as paid is final on the chain, and of that amount': `
    select standing.id, standing.transfer, leg.amount as booked, paid.amount as paid, paid.height, network.final
    from hold.standing
    join hold.network on network.name = split_part(standing.transfer, '/', 1)
    left join hold.paid on paid.transfer = standing.transfer
    left join ledger_transfer as leg on journal_id = standing.id
    where standing.kind = 'deposit'
      and (paid.transfer is null or paid.height > network.final
        or (leg.amount, leg.asset) is distinct from (paid.amount, paid.asset))`,

  'what is final and was read is booked, or passed over by policy, or waits for a time': `
    select payment.transfer, payment.height, deposit.state from hold.final_payment as payment
    left join deposit on deposit.transfer = payment.transfer and merged_into is null
    left join evidence_group on evidence_group.id = deposit.group_id
    where deposit.state is distinct from 'ignored' and recheck_at is null
      and not exists (select from hold.standing where kind = 'deposit' and standing.transfer = payment.transfer)`,

  'what was ever safe to credit is final on the chain in the end, and of that amount': `
    select fact.deposit_id, journal.transfer, fact.amount, fact.asset from credit_safety as fact
    join ledger_journal as journal on journal.id = fact.journal_id
    join deposit on deposit.id = fact.deposit_id
    join hold.network on network.name = split_part(fact.asset, '/', 1)
    where fact.action = 'safe' and not exists (
      -- A transaction that is included again may have another index.
      select from hold.paid where paid.network = network.name and paid.tx = split_part(journal.transfer, '/', 2)
        and paid.address = deposit.address and (paid.amount, paid.asset) = (fact.amount, fact.asset)
        and paid.height <= network.final)`,

  'what is safe to credit rests on a journal that stands, and what is not safe does not': `
    select fact.deposit_id, fact.number, fact.action from credit_safety as fact
    where number = (select max(number) from credit_safety as other where other.deposit_id = fact.deposit_id)
      and (action = 'safe') <> exists (
        select from hold.standing where standing.id = fact.journal_id and standing.kind = 'deposit')`,

  'a delivery or a refund stands only beside its payment': `
    select id, kind, transfer from hold.standing as later
    where kind in ('settlement', 'refund') and not exists (
      select from hold.standing as payment where payment.kind = 'deposit' and payment.transfer = later.transfer)`,

  'what was seen and is not of the chain is withdrawn, and what is of it is not': `
    select last_word.transfer, stage, last_word.height from hold.last_word
    join hold.network on network.name = last_word.network
    join hold.cursor on cursor.network = last_word.network
    where case when stage = 'orphaned'
      then exists (select from hold.final_payment as payment where payment.transfer = last_word.transfer)
      else last_word.height <= least(network.final, cursor.height)
        and not exists (select from hold.paid where paid.transfer = last_word.transfer) end`,

  'no deposit is taken back that the chain has': `
    select deposit.id, deposit.transfer from deposit
    join hold.final_payment as payment on payment.transfer = deposit.transfer
    where merged_into is null and state = 'orphaned'`,
} as const satisfies Record<string, string>

import { notCovered } from './chain-coverage.ts'

/**
 * What must hold of the books beside the chain as it is, once everything on it is read and applied. Each question names
 * whatever contradicts it, and so finds nothing. It shares no code with the product.
 */
export const contradictions = {
  'I2: nothing is booked twice, and nothing is reversed twice': `
    select kind, transfer, count(*) from oracle.standing group by kind, transfer having count(*) > 1
    union all
    select 'reversal', min(transfer), count(*) from ledger_journal where reverses is not null
    group by reverses having count(*) > 1`,

  'I2: of one payment of one transaction, no more stands than was paid': `
    select tx, booked.times from (
      select split_part(transfer, '/', 2) as tx, count(*) as times from oracle.standing where kind = 'deposit' group by 1
    ) as booked
    where times > (select count(*) from oracle.paid where paid.tx = booked.tx and is_final)`,

  'I3: the books are balanced, in total and in each journal': `
    select null as journal_id, asset, sum(amount) from ledger_entry group by asset having sum(amount) <> 0
    union all
    select journal_id, asset, sum(amount) from ledger_entry group by journal_id, asset having sum(amount) <> 0`,

  'I5: every height up to the cursor was read for every address': notCovered,

  'I5: every block that is remembered is of the chain, and each block links to its parent': `
    select name, mark from stream, lateral (
      select cursor -> 'final' as mark union all select jsonb_array_elements(cursor -> 'trail')
    ) as kept
    where name like 'scan/%' and cursor is not null and not exists (
      select from oracle.block
      where network = substr(name, 6) and height = (mark ->> 'height')::bigint and hash = mark ->> 'hash')
    union all
    select 'the chain', to_jsonb(child) from oracle.block as child join oracle.block as parent
      on parent.network = child.network and parent.height = child.height - 1
    where child.parent_hash <> parent.hash`,

  'I6: every observation is applied and belongs to a deposit or a mismatch, or is told of as one itself': `
    select inbox.id, inbox.source from inbox left join evidence on inbox_id = inbox.id
    where case when evidence.inbox_id is null
      then not exists (select from mismatch where subject = 'inbox/' || inbox.id)
      else not exists (select from deposit where deposit.group_id = evidence.group_id)
        and not exists (select from mismatch where mismatch.group_id = evidence.group_id) end`,

  'I6: every payment is one deposit': `
    select paid.transfer, count(deposit.id) from oracle.paid
    left join deposit on deposit.transfer = paid.transfer and merged_into is null
    where paid.is_final group by paid.transfer having count(deposit.id) <> 1
    union all
    select tx, count(*) from deposit where merged_into is null and tx in (select tx from oracle.paid)
    group by tx having count(*) > (select count(*) from oracle.paid where paid.tx = deposit.tx)`,

  'I8: what is final on the chain stands in the books to its amount, and nothing else does': `
    select paid.transfer as paid, paid.amount, standing.transfer as booked, booked.amount as as_amount
    from (select * from oracle.paid where is_final) as paid
    full join (select * from oracle.standing where kind = 'deposit') as standing using (transfer)
    left join ledger_transfer as booked on booked.journal_id = standing.id
    where paid.transfer is null or standing.transfer is null
      or booked.amount <> paid.amount or booked.asset <> paid.asset`,

  'I8: a delivery stands only beside its payment': `
    select transfer from oracle.standing as delivery where kind = 'settlement' and not exists (
      select from oracle.standing as payment where payment.kind = 'deposit' and payment.transfer = delivery.transfer)`,

  'I8: what was seen and is not of the chain is withdrawn, and what is of it is not': `
    select transfer, stage, height from oracle.last_word
    where (stage = 'orphaned') = exists (select from oracle.paid where paid.transfer = last_word.transfer)
    union all
    select transfer, state, null from deposit
    where merged_into is null and transfer is not null
      and (state = 'orphaned') = exists (select from oracle.paid where paid.transfer = deposit.transfer)`,
} as const satisfies Record<string, string>

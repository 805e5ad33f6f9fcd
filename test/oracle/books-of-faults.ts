/**
 * What must hold of the books once everything is at rest. Each question names whatever contradicts it, and so finds
 * nothing. It shares no code with the product.
 */
export const contradictions = {
  'every payment is one deposit, reconciled or under exactly the mismatches of what struck it': `
    select network, tx, owner_kind, struck, must, state, open from oracle.reported
    where id is null
      or not open <@ (must || may)
      or not case when any_of then cardinality(must) = 0 or open && must else must <@ open end
      or (state = 'reconciled') <> is_reconciled
      or (cardinality(open) = 0 and state <> 'reconciled')`,

  'nothing is a deposit that was not paid': `
    select id, network, tx, address, asset, state from deposit
    where merged_into is null and state <> 'ignored' and id not in (select id from oracle.reported where id is not null)`,

  'no mismatch is open of anything else': `
    select subject, kind, detail from mismatch
    where cleared_at is null and id not in (select mismatch_id from oracle.unmatched)
      and (deposit_id is null or deposit_id not in (select id from oracle.reported where id is not null))`,

  'of a deposit that nothing struck, nothing was reported but that something was late': `
    select reported.tx, mismatch.kind, mismatch.detail from oracle.reported join mismatch on deposit_id = reported.id
    where cardinality(struck) = 0 and kind not in (
      'webhook_missing', 'api_missing', 'conversion_open', 'chain_missing', 'not_covered', 'unreported', 'settlement_missing',
      'record_disappeared')`,

  'I1: every webhook that was answered by 2xx is stored once, and applied': `
    select event.id, count(inbox.id) from oracle.event
    left join inbox on source = 'webhook' and source_key = event.id
    left join inbox_pending on inbox_id = inbox.id
    group by event.id having count(inbox.id) <> 1 or count(inbox_pending.inbox_id) > 0`,

  'I2: every payment is booked once, to its amount': `
    select reported.tx, reported.address, reported.amount, count(journal.id), sum(booked.amount) from oracle.reported
    left join oracle.standing as journal on deposit_id = reported.id and journal.kind = 'deposit'
    left join ledger_transfer as booked on journal_id = journal.id
    group by reported.network, reported.tx, reported.address, reported.asset, reported.amount
    having count(journal.id) <> 1 or sum(booked.amount) <> reported.amount`,

  'I2: the forwards of a reconciled deposit are booked once, to their amounts': `
    select reported.tx, forwarded.amount, count(distinct journal.id), sum(booked.amount) from oracle.reported
    join lateral (
      select sum(amount) as amount from oracle.forward
      where (paid_network, paid_tx, paid_address) = (reported.network, reported.tx, reported.address)
        and (kind = 'forward' or 'doubleForwardRate' <> all(struck))
    ) as forwarded on forwarded.amount is not null
    left join oracle.standing as journal on deposit_id = reported.id and journal.kind = 'settlement'
    left join ledger_transfer as booked on journal_id = journal.id and debit like 'assets:forwarded:%'
    where reported.state = 'reconciled'
    group by reported.network, reported.tx, reported.address, reported.asset, forwarded.amount
    having count(distinct journal.id) <> 1 or sum(booked.amount) <> forwarded.amount`,

  'of a reconciled deposit nothing is left in the trading accounts: what is owed is what was delivered, and the fee': `
    select journal.deposit_id, entry.asset, sum(entry.amount) from ledger_entry as entry
    join ledger_journal as journal on journal.id = entry.journal_id
    join deposit on deposit.id = journal.deposit_id
    where entry.account like 'trading:%' and deposit.state = 'reconciled'
    group by journal.deposit_id, entry.asset having sum(entry.amount) <> 0`,

  'I2: no leg has two standing journals, and no journal is reversed twice': `
    select kind, transfer, count(*) from oracle.standing group by kind, transfer having count(*) > 1
    union all
    select 'reversal', min(transfer), count(*) from ledger_journal where reverses is not null
    group by reverses having count(*) > 1`,

  'I3: the books are balanced, in total and in each journal': `
    select null as journal_id, asset, sum(amount) from ledger_entry group by asset having sum(amount) <> 0
    union all
    select journal_id, asset, sum(amount) from ledger_entry group by journal_id, asset having sum(amount) <> 0`,

  'I6: every observation is applied, and belongs to one group': `
    select inbox.id, inbox.source from inbox
    left join evidence on inbox_id = inbox.id
    left join mismatch on subject = 'inbox/' || inbox.id and cleared_at is null
    where evidence.inbox_id is null and mismatch.id is null and inbox.stored_at < now() - interval '10 seconds'`,
} as const satisfies Record<string, string>

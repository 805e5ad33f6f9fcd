/** I2: nothing is booked twice. */
export const i2 = {
  'of each leg of a payment one journal stands': `
    select kind, transfer, array_agg(id order by id) as journals from hold.standing
    where transfer is not null group by kind, transfer having count(*) > 1`,

  'no posting key was used twice': `
    select posting_key, count(*) from ledger_journal group by posting_key having count(*) > 1`,

  'a reversal takes back one journal, which is no reversal and was not taken back before': `
    select reversal.id, reversal.reverses, 'which is not there, or a reversal itself' as problem
    from ledger_journal as reversal left join ledger_journal as original on original.id = reversal.reverses
    where reversal.kind = 'reversal' and (original.id is null or original.kind = 'reversal')
    union all
    select min(id), reverses, 'more than once' from ledger_journal
    where reverses is not null group by reverses having count(*) > 1`,

  'a reversal is the mirror of what it takes back': `
    with mirrored as (
      select reversal.id, leg.leg, leg.credit as debit, leg.debit as credit, leg.asset, leg.amount
      from ledger_journal as reversal join ledger_transfer as leg on leg.journal_id = reversal.reverses
    ), found as (
      select reversal.id, leg.leg, leg.debit, leg.credit, leg.asset, leg.amount
      from ledger_journal as reversal join ledger_transfer as leg on leg.journal_id = reversal.id
      where reversal.reverses is not null
    )
    (select * from mirrored except select * from found) union all (select * from found except select * from mirrored)`,

  'of the payments of one transaction no more stand than were paid': `
    select booked.network, booked.tx, booked.times from (
      select split_part(transfer, '/', 1) as network, split_part(transfer, '/', 2) as tx, count(*) as times
      from hold.standing where kind = 'deposit' group by 1, 2
    ) as booked join hold.network on network.name = booked.network
    where times > (select count(*) from hold.paid where paid.network = booked.network and paid.tx = booked.tx)`,

  'no more is booked as delivered to a recipient than the chain brought there': `
    with booked as (
      select split_part(debit, ':', 3) as network, split_part(debit, ':', 4) as address, asset, sum(amount) as amount
      from hold.standing join ledger_transfer on journal_id = standing.id
      where debit like 'assets:forwarded:%' group by 1, 2, 3
    )
    select booked.* from booked join hold.network on network.name = booked.network
    where booked.amount > (
      select coalesce(sum(paid.amount), 0) from hold.paid
      where (paid.network, paid.address, paid.asset) = (booked.network, booked.address, booked.asset))`,

  'events are numbered without a gap, each after the one before it of its deposit': `
    select sequence, previous from (
      select *, row_number() over (order by sequence) as place,
        lag(sequence) over (partition by deposit_id order by sequence) as before
      from event
    ) as one
    where sequence <> place or previous is distinct from case when deposit_id is not null then before end`,
} as const satisfies Record<string, string>

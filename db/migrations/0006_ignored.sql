-- A transfer to a deposit address can be the service's own, such as the coin that pays for moving a deposit on. It is
-- kept and shown, and is no deposit to those who read the accounts.
alter table deposit drop constraint deposit_state_check;
alter table deposit add constraint deposit_state_check check (state in
  ('observed', 'confirmed', 'settling', 'settled', 'reconciled', 'orphaned', 'refunded', 'held', 'failed', 'ignored'));

drop index deposit_open;
create index deposit_open on deposit (state, network)
  where state not in ('reconciled', 'refunded', 'failed', 'ignored');

-- What the command line shows: also what is ignored.
create view deposit_report as
  select d.id, d.service_id, d.state, d.owner_kind, d.owner_id, d.network, d.address,
    a.symbol as asset_symbol, d.asset, accounting.in_units(d.amount, a.decimals) as amount,
    d.amount as amount_base, d.tx,
    d.settlement_network, d.settlement_address, s.symbol as settlement_asset_symbol, d.settlement_asset,
    accounting.in_units(d.settlement_amount, s.decimals) as settlement_amount,
    d.settlement_amount as settlement_amount_base, d.settlement_tx,
    accounting.in_units(d.fee_amount, s.decimals) as fee, d.fee_amount as fee_base,
    d.deposited_at, d.final_at, d.settled_at, d.reconciled_at
  from deposit d
    left join asset a on a.key = d.asset
    left join asset s on s.key = d.settlement_asset
  where d.merged_into is null;

create or replace view accounting.deposits as select * from deposit_report where state <> 'ignored';

comment on view deposit_report is 'One row per deposit and per transfer that is ignored, as the evidence stands now.';

grant select on deposit_report to depositd_daemon;

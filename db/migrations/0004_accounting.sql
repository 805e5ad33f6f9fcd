-- What accountants read. Names here are promises; tables behind them are not.
create schema accounting;

create function accounting.in_units(amount numeric, decimals smallint) returns numeric
  language sql immutable parallel safe
  return amount * ('1e-' || decimals)::numeric;

comment on function accounting.in_units is
  'An integer of smallest units as a decimal in units of the asset. Exact: a product of numerics keeps every digit, which a quotient would not.';

create view accounting.deposits as
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

comment on view accounting.deposits is 'One row per deposit, as the evidence stands now.';
comment on column accounting.deposits.id is 'Our number of the deposit, as in "bin/depositd deposits show ID".';
comment on column accounting.deposits.service_id is 'The deposit service''s own id; empty while the service has not reported it.';
comment on column accounting.deposits.state is 'observed, confirmed, settling, settled, reconciled; or orphaned, refunded, held, failed.';
comment on column accounting.deposits.owner_kind is 'channel or stable_wallet.';
comment on column accounting.deposits.owner_id is 'Whom the deposit is for: the id given when the channel or wallet was created.';
comment on column accounting.deposits.network is 'Network on which the payment arrived.';
comment on column accounting.deposits.address is 'Deposit address that was paid.';
comment on column accounting.deposits.asset_symbol is 'Label of the asset paid. Not unique: two tokens may share it.';
comment on column accounting.deposits.asset is 'Asset paid: network/contract, network/mint or network/native.';
comment on column accounting.deposits.amount is 'Amount paid, in units of the asset.';
comment on column accounting.deposits.amount_base is 'Amount paid, in smallest units.';
comment on column accounting.deposits.tx is 'Transaction of the payment.';
comment on column accounting.deposits.settlement_network is 'Network on which the deposit was delivered; stable-wallet for a credit.';
comment on column accounting.deposits.settlement_address is 'Recipient of the forward, or the id of the StableWallet credited.';
comment on column accounting.deposits.settlement_asset_symbol is 'Label of the asset delivered.';
comment on column accounting.deposits.settlement_asset is 'Asset delivered.';
comment on column accounting.deposits.settlement_amount is 'Amount delivered, in units of the asset.';
comment on column accounting.deposits.settlement_amount_base is 'Amount delivered, in smallest units.';
comment on column accounting.deposits.settlement_tx is 'Transaction of the forward; empty for a credit.';
comment on column accounting.deposits.fee is 'Fee the service states, in units of the asset delivered.';
comment on column accounting.deposits.fee_base is 'Fee the service states, in smallest units.';
comment on column accounting.deposits.deposited_at is 'Time of the block that holds the payment.';
comment on column accounting.deposits.final_at is 'When the payment was read as final.';
comment on column accounting.deposits.settled_at is 'When the delivery was proved.';
comment on column accounting.deposits.reconciled_at is 'When all required sources first agreed.';

create view accounting.journal as
  select j.id, j.posting_key, j.kind, j.deposit_id, j.reverses, j.event_at, j.recorded_at
  from ledger_journal j;

comment on view accounting.journal is 'One row per journal. A journal is never changed; a correction is a reversal and a new journal.';
comment on column accounting.journal.id is 'Number of the journal.';
comment on column accounting.journal.posting_key is 'What was booked. Unique, so that nothing is booked twice.';
comment on column accounting.journal.kind is 'deposit, settlement or reversal.';
comment on column accounting.journal.deposit_id is 'The deposit it belongs to.';
comment on column accounting.journal.reverses is 'The journal that this one takes back.';
comment on column accounting.journal.event_at is 'When it happened in the world.';
comment on column accounting.journal.recorded_at is 'When it was written.';

create view accounting.entries as
  select e.journal_id, e.leg, j.posting_key, j.kind, j.deposit_id, e.account, a.symbol as asset_symbol, e.asset,
    accounting.in_units(e.amount, a.decimals) as amount, e.amount as amount_base, j.event_at, j.recorded_at
  from ledger_entry e
    join ledger_journal j on j.id = e.journal_id
    join asset a on a.key = e.asset;

comment on view accounting.entries is 'Two rows per transfer: the debit side positive, the credit side negative. Per asset they sum to zero.';
comment on column accounting.entries.journal_id is 'Journal the entry belongs to.';
comment on column accounting.entries.leg is 'Number of the transfer inside its journal.';
comment on column accounting.entries.posting_key is 'Posting key of the journal.';
comment on column accounting.entries.kind is 'Kind of the journal.';
comment on column accounting.entries.deposit_id is 'The deposit it belongs to.';
comment on column accounting.entries.account is 'Account, for example assets:in_transit:base.';
comment on column accounting.entries.asset_symbol is 'Label of the asset.';
comment on column accounting.entries.asset is 'Asset: network/contract, network/mint or network/native.';
comment on column accounting.entries.amount is 'In units of the asset; debits positive, credits negative.';
comment on column accounting.entries.amount_base is 'In smallest units; debits positive, credits negative.';
comment on column accounting.entries.event_at is 'When it happened in the world.';
comment on column accounting.entries.recorded_at is 'When it was written.';

create view accounting.balances as
  select b.account, a.symbol as asset_symbol, b.asset, accounting.in_units(b.balance, a.decimals) as balance,
    b.balance as balance_base
  from ledger_balance b join asset a on a.key = b.asset;

comment on view accounting.balances is 'Balance of each account in each asset, over all that was ever booked.';
comment on column accounting.balances.account is 'Account, for example assets:in_transit:base.';
comment on column accounting.balances.asset_symbol is 'Label of the asset.';
comment on column accounting.balances.asset is 'Asset: network/contract, network/mint or network/native.';
comment on column accounting.balances.balance is 'In units of the asset; debit balances positive, credit balances negative.';
comment on column accounting.balances.balance_base is 'In smallest units; debit balances positive, credit balances negative.';

create view accounting.mismatches as
  select m.id, m.kind, m.severity, m.deposit_id, m.subject, m.network, a.symbol as asset_symbol, m.asset,
    accounting.in_units(m.value, a.decimals) as amount, m.value as amount_base, m.detail,
    m.opened_at, m.cleared_at, m.cleared_how, coalesce(m.cleared_at, now()) - m.opened_at as age
  from mismatch m left join asset a on a.key = m.asset;

comment on view accounting.mismatches is 'Every mismatch that was ever opened. Open are those without cleared_at.';
comment on column accounting.mismatches.id is 'Number of the mismatch.';
comment on column accounting.mismatches.kind is 'What is wrong; docs/mismatches.md explains each kind.';
comment on column accounting.mismatches.severity is 'info, warning or severe.';
comment on column accounting.mismatches.deposit_id is 'The deposit it is about, where there is one.';
comment on column accounting.mismatches.subject is 'What it is about: deposit/ID, transfer/NETWORK/TX/INDEX or inbox/ID.';
comment on column accounting.mismatches.network is 'Network it is about.';
comment on column accounting.mismatches.asset_symbol is 'Label of the asset at stake.';
comment on column accounting.mismatches.asset is 'Asset at stake.';
comment on column accounting.mismatches.amount is 'Value at stake, in units of the asset.';
comment on column accounting.mismatches.amount_base is 'Value at stake, in smallest units.';
comment on column accounting.mismatches.detail is 'What each side says.';
comment on column accounting.mismatches.opened_at is 'When it was noticed.';
comment on column accounting.mismatches.cleared_at is 'When it ended; empty while open.';
comment on column accounting.mismatches.cleared_how is 'evidence: what was missing arrived; person: somebody decided.';
comment on column accounting.mismatches.age is 'From opened_at to cleared_at, or to now while open.';

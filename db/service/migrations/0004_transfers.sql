-- What became of a deposit beside being forwarded or credited: held, refunded, or failed, and why.
alter table service.deposit rename column failure to reason;
alter table service.deposit
  drop constraint deposit_status_check,
  drop constraint deposit_failure_check,
  drop constraint deposit_check1,
  drop constraint deposit_check3,
  -- A deposit that was released once is stopped by no policy again.
  add column released_at timestamptz,
  add column refund_address text,
  add column refund_amount numeric(78, 0) check (refund_amount > 0),
  add column refund_transaction text,
  add column refund_at timestamptz,
  add column sweep_id bigint,
  add constraint deposit_status check (status in (
    'detected', 'confirmed', 'converting', 'forwarding', 'settled', 'credited', 'held', 'refunding', 'refunded', 'failed')),
  add constraint deposit_reason check (
    case
      when status = 'failed' then coalesce(reason in ('vanished', 'too_small'), false)
      when status = 'held' then coalesce(
        reason in ('policy_hold', 'below_minimum', 'asset_denied', 'sender_denied', 'sender_unknown'), false)
      when status in ('refunding', 'refunded') then coalesce(
        reason in ('below_minimum', 'asset_denied', 'sender_denied', 'requested'), false)
      else reason is null
    end),
  add constraint deposit_quoted check (
    (status in ('converting', 'forwarding', 'settled', 'credited')) <= (num_nonnulls(to_amount, fee, rate) = 3)),
  add constraint deposit_converting check ((status = 'converting') <= (owner_kind = 'channel')),
  -- A deposit is never both forwarded and refunded.
  add constraint deposit_refunding check (
    (status in ('refunding', 'refunded')) = (num_nonnulls(refund_address, refund_amount) = 2)
    and num_nonnulls(refund_address, refund_amount) in (0, 2)
    and num_nonnulls(to_transaction, refund_address) < 2),
  add constraint deposit_refunded check (
    (status = 'refunded') <= (num_nonnulls(refund_transaction, refund_at) = 2)
    and (refund_transaction is not null) <= (status in ('refunding', 'refunded'))
    and (refund_at is not null) = (status = 'refunded'));

drop index service.deposit_open;
create index deposit_open on service.deposit (network, status, sequence) where status in ('detected', 'confirmed');
create index deposit_to_forward on service.deposit (to_network, sequence) where status in ('converting', 'forwarding');
create index deposit_to_refund on service.deposit (network, sequence) where status = 'refunding';
create index deposit_unswept on service.deposit (network, sequence)
  where sweep_id is null and status <> 'detected' and reason is distinct from 'vanished';
create index deposit_swept on service.deposit (sweep_id) where sweep_id is not null;
create index deposit_refund_transaction on service.deposit (refund_transaction) where refund_transaction is not null;
create index deposit_credited on service.deposit (owner_id) include (to_amount) where status = 'credited';

-- Sweeping a deposit is no news of it: it changes neither its revision nor the time that its readers follow.
create or replace function service.count_revision() returns trigger language plpgsql as $$
begin
  if new.sweep_id is not distinct from old.sweep_id then
    new.updated_at := clock_timestamp();
  end if;
  if (new.status, new.to_transaction, new.refund_transaction)
    is distinct from (old.status, old.to_transaction, old.refund_transaction) then
    new.revision := old.revision + 1;
  end if;
  return new;
end
$$;

-- The last branch that BIP-44 allows is where misdirected forwards go; no owner ever gets it.
alter sequence service.branch maxvalue 2147483646;

create table service.policy (
  owner_kind text not null,
  owner_id text not null,
  body jsonb not null check (jsonb_typeof(body) = 'object'),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (owner_kind, owner_id),
  foreign key (owner_kind, owner_id) references service.owner (kind, id)
);
comment on table service.policy is 'What overrides the forwarding or crediting of one owner''s deposits.';

create table service.withdrawal (
  -- In the order in which a wallet's withdrawals were accepted: they are inserted under a lock of its owner row.
  sequence bigint generated always as identity primary key,
  owner_kind text not null default 'stable_wallet' check (owner_kind = 'stable_wallet'),
  wallet_id text not null,
  id text not null check (length(id) between 1 and 128),
  network text not null,
  recipient text not null,
  -- The contract or mint that is paid out.
  asset text not null,
  -- In the units of the balance, whatever decimals the asset has on the network.
  amount numeric(78, 0) not null check (amount > 0),
  status text not null default 'requested' check (status in ('requested', 'sending', 'settled', 'failed')),
  transaction text,
  settled_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  unique (wallet_id, id),
  foreign key (owner_kind, wallet_id) references service.owner (kind, id),
  check ((status in ('sending', 'settled')) <= (transaction is not null)),
  check ((status = 'settled') = (settled_at is not null))
);
comment on table service.withdrawal is 'What a StableWallet''s owner asked to be paid out of its balance.';
create index withdrawal_open on service.withdrawal (network, sequence) where status in ('requested', 'sending');

create table service.transfer (
  -- Taken from the sequence before the row is written, since its signing is written beside it.
  id bigint generated by default as identity primary key,
  kind text not null check (kind in ('forward', 'refund', 'withdrawal', 'sweep', 'top_up', 'stray')),
  deposit_id text references service.deposit,
  withdrawal bigint references service.withdrawal,
  attempt smallint not null default 1 check (attempt > 0),
  network text not null,
  -- Of the seed, whose key signs; 0 is the liquidity wallet.
  branch integer not null check (branch >= 0),
  -- EVM only.
  nonce bigint,
  asset text not null,
  to_address text not null,
  -- What arrives at the address: by the newest version, and at the end by the one that landed.
  amount numeric(78, 0) not null check (amount > 0),
  outcome text check (outcome in ('landed', 'reverted', 'expired')),
  -- The signed version that has the outcome.
  transaction text,
  created_at timestamptz not null default clock_timestamp(),
  unique (network, branch, nonce),
  unique (deposit_id, kind, attempt),
  unique (withdrawal, attempt),
  check ((kind in ('forward', 'refund', 'stray')) = (deposit_id is not null)),
  check ((kind = 'withdrawal') = (withdrawal is not null)),
  check ((kind = 'sweep') = (branch > 0)),
  check (coalesce(outcome in ('landed', 'reverted'), false) <= (transaction is not null))
);
comment on table service.transfer is 'Each attempt to move money: to recipients, back to senders, out of wallets, and between the service''s own addresses.';

create table service.signing (
  transaction text primary key,
  transfer_id bigint not null references service.transfer,
  version smallint not null default 1 check (version > 0),
  -- What arrives by these bytes: where the fee comes off it, less than by the version before.
  amount numeric(78, 0) not null check (amount > 0),
  bytes bytea not null,
  -- Solana only: the last block height at which these bytes can still land.
  expires_height bigint,
  created_at timestamptz not null default clock_timestamp(),
  unique (transfer_id, version)
);
comment on table service.signing is 'Transfers as they were signed, stored before they are sent, so that a restart sends the same bytes again. A further version has the nonce of the first and a higher fee: of all, one lands.';

insert into service.transfer (
  kind, deposit_id, attempt, network, branch, nonce, asset, to_address, amount, outcome, transaction, created_at)
select 'forward', forward.deposit_id, forward.attempt, forward.network, 0, forward.nonce,
  coalesce(deposit.to_contract, 'native'), deposit.to_address, forward.amount, forward.outcome,
  case when forward.outcome in ('landed', 'reverted') then forward.transaction end, forward.created_at
from service.forward join service.deposit on deposit.id = forward.deposit_id
order by forward.created_at, forward.nonce;

insert into service.signing (transaction, transfer_id, amount, bytes, expires_height, created_at)
select forward.transaction, transfer.id, forward.amount, forward.bytes, forward.expires_height, forward.created_at
from service.forward
join service.transfer on (transfer.deposit_id, transfer.attempt) = (forward.deposit_id, forward.attempt);

drop table service.forward;

-- Of all attempts to forward or refund a deposit, and of all to pay a withdrawal, at most one has moved money or
-- still can.
create unique index transfer_once on service.transfer (deposit_id)
  where kind in ('forward', 'refund') and (outcome is null or outcome = 'landed');
create unique index withdrawal_once on service.transfer (withdrawal)
  where kind = 'withdrawal' and (outcome is null or outcome = 'landed');
-- A deposit address pays one transfer at a time, and is given gas for one at a time.
create unique index sweep_one_by_one on service.transfer (network, branch) where kind = 'sweep' and outcome is null;
create unique index top_up_one_by_one on service.transfer (network, to_address)
  where kind = 'top_up' and outcome is null;
create index transfer_open on service.transfer (network, id) where outcome is null;

alter table service.deposit add foreign key (sweep_id) references service.transfer;

-- The next nonce is the one above the highest that was stored, under the lock of the network's row.
alter table service.stream drop column next_nonce;

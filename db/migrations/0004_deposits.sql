-- What the evidence amounts to: deposits, mismatches, and the work of people on them.

-- Derived: every column can be computed again from the evidence.
create table deposit (
  id bigint generated always as identity primary key,
  group_id bigint not null references evidence_group,
  service_id text unique,
  -- That of its claims; until there are any, that of the owner of the address.
  service text not null default 'default',
  -- Checked at the end of a statement, in which two deposits may exchange their transfers.
  transfer text unique deferrable,
  merged_into bigint references deposit,
  -- `ignored` is a transfer of the service's own to a deposit address, such as gas. It is stored and shown, and is no
  -- deposit in the accounts.
  state text not null check (state in
    ('observed', 'confirmed', 'settling', 'settled', 'reconciled', 'orphaned', 'refunded', 'held', 'failed', 'ignored')),
  owner_kind text,
  owner_id text,
  network text,
  address text,
  asset text,
  amount numeric(78, 0),
  tx text,
  settlement_network text,
  settlement_address text,
  settlement_asset text,
  settlement_amount numeric(78, 0),
  settlement_tx text,
  fee_amount numeric(78, 0),
  matrix jsonb not null,
  -- The time of the block that holds the payment.
  deposited_at timestamptz,
  -- When each source first reported it. Their distances are the lags.
  webhook_at timestamptz,
  api_at timestamptz,
  chain_at timestamptz,
  final_at timestamptz,
  settled_at timestamptz,
  reconciled_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Statuses that the API or the chain knows, and how many of them a webhook reported.
  steps_known smallint not null default 0,
  steps_reported smallint not null default 0,
  -- Since when the oldest of these statuses has waited for its webhook.
  unreported_since timestamptz,
  constraint deposit_identified check (num_nonnulls(service_id, transfer, merged_into) > 0),
  constraint deposit_is_number check (amount < 'NaN' and settlement_amount < 'NaN' and fee_amount < 'NaN')
);

create index deposit_group_id on deposit (group_id);
create index deposit_tx on deposit (tx);
create index deposit_address on deposit (address, id) where merged_into is null;
create index deposit_owner on deposit (owner_id, id) where merged_into is null;
-- The deposits of most installations are all of the default service.
create index deposit_service on deposit (service, id) where merged_into is null and service <> 'default';
create index deposit_since on deposit (coalesce(deposited_at, least(webhook_at, api_at))) where merged_into is null;
create index deposit_settled_at on deposit (settled_at) where merged_into is null and settled_at is not null;
create index deposit_state on deposit (state, network, service, merged_into);
create index deposit_merged_into on deposit (merged_into) where merged_into is not null;

-- Withdrawals from StableWallets, as the service lists them. `paid` is on the chain; `unproved` contradicts the chain.
create table withdrawal (
  wallet text not null,
  -- Unique within the wallet.
  withdrawal_id text not null,
  group_id bigint not null references evidence_group,
  service text not null,
  status text not null check (status in ('requested', 'sent', 'settled', 'failed')),
  state text not null check (state in ('requested', 'sent', 'paid', 'failed', 'unproved')),
  -- What leaves the balance.
  asset text not null,
  amount numeric(78, 0) not null check (amount < 'NaN'),
  network text not null,
  recipient text not null,
  tx text,
  -- The transfer to the recipient: `network/transaction/index`.
  transfer text,
  occurred_at timestamptz not null,
  primary key (wallet, withdrawal_id)
);

create index withdrawal_group_id on withdrawal (group_id);

-- The balance of each StableWallet as the service stated it last, beside the books. It is explained between `books` less
-- `leaving`, and `books` plus `arriving`: the service may count a withdrawal or a credit before it is proved.
create table wallet_balance (
  wallet text primary key,
  service text not null,
  asset text not null,
  balance numeric(78, 0) not null check (balance < 'NaN'),
  books numeric(78, 0) not null check (books < 'NaN'),
  leaving numeric(78, 0) not null check (leaving < 'NaN'),
  arriving numeric(78, 0) not null check (arriving < 'NaN'),
  read_at timestamptz not null,
  -- Of the balance; null while it is explained.
  differs_since timestamptz
);

create view deposit_report as
  select d.id, d.service, d.service_id, d.state, d.owner_kind, d.owner_id, d.network, d.address,
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

comment on view deposit_report is 'One row per deposit and per transfer that is ignored, as the evidence stands now.';

create table mismatch (
  id bigint generated always as identity primary key,
  -- `deposit/17`, `transfer/base/0x…/3` or `inbox/42`; `webhook/…` and `owner/…` hold ids of the service.
  subject text not null,
  kind text not null,
  -- Null if it is of no service, like a node that contradicts another.
  service text,
  severity text not null check (severity in ('info', 'warning', 'severe')),
  -- Its deposit, and the group of evidence that decides it. Both are null for what could not be read.
  deposit_id bigint references deposit,
  group_id bigint references evidence_group,
  network text,
  asset text,
  value numeric(78, 0),
  detail jsonb not null default '{}',
  opened_at timestamptz not null,
  cleared_at timestamptz,
  cleared_how text check (cleared_how in ('evidence', 'person')),
  -- A mismatch holds until the evidence clears it. A person may resolve it earlier, with a reason; it stays resolved until
  -- its evidence changes. It is open while it is neither.
  assigned_to text check (assigned_to <> ''),
  snoozed_until timestamptz,
  -- Instead of a time. With new evidence, a snooze until a time ends too.
  snooze_ends_with text check (snooze_ends_with in ('new evidence', 'a larger loss')),
  resolved_at timestamptz,
  resolved_by text check (resolved_by <> ''),
  resolved_reason text check (resolved_reason <> ''),
  -- What may be lost, in an asset of its own: a short delivery is measured in the asset delivered (docs/mismatches.md).
  loss_asset text,
  loss_amount numeric(78, 0) check (loss_amount > 0),
  -- The amount that the loss is a part of, in the same asset.
  loss_whole numeric(78, 0) constraint mismatch_loss_within_whole check (loss_whole >= loss_amount),
  constraint mismatch_snooze_check check (num_nonnulls(snoozed_until, snooze_ends_with) <= 1),
  constraint mismatch_cleared_check check ((cleared_at is null) = (cleared_how is null)),
  constraint mismatch_resolved_check check (num_nulls(resolved_at, resolved_by, resolved_reason) in (0, 3)),
  constraint mismatch_loss_check check (num_nulls(loss_asset, loss_amount, loss_whole) in (0, 3))
);

create unique index mismatch_open on mismatch (subject, kind) where cleared_at is null;
create index mismatch_deposit_id on mismatch (deposit_id);
create index mismatch_group_id on mismatch (group_id);
create index mismatch_group_open on mismatch (group_id) where cleared_at is null;
create index mismatch_open_kind on mismatch (kind, id) where cleared_at is null;
create index mismatch_opened_at on mismatch (opened_at);
create index mismatch_closed_at on mismatch (least(cleared_at, resolved_at));
create index mismatch_unreadable on mismatch (subject) where kind in ('unknown_event', 'unknown_status', 'schema_drift');

-- The value of a loss is by the price at the time when the mismatch opened.
create view mismatch_loss as
  select m.*, rule.currency,
    accounting.in_units(m.loss_amount, a.decimals) as loss,
    a.symbol as loss_asset_symbol,
    round(m.loss_amount / m.loss_whole, 6) as loss_share,
    -- A list is sorted by it: units are computed only if there is a price.
    case when p.price is not null then accounting.in_units(m.loss_amount, a.decimals) * p.price end as loss_value
  from mismatch m
    left join asset a on a.key = m.loss_asset
    left join active_valuation rule on m.loss_asset is not null
    left join accounting.price_at(m.loss_asset, m.opened_at) as p on true;

comment on view mismatch_loss is 'Every mismatch that was ever opened, with the value of its loss; empty if its asset has no price.';

-- The one definition of an open mismatch. `stake` names the transfer it concerns, so that a transfer with several
-- mismatches is counted once; a claim without a transfer counts for the transfer that it names.
create view open_mismatch as
  select m.id, m.subject, m.kind, m.service, m.severity, m.deposit_id, m.network, m.asset, m.value, m.detail, m.opened_at,
    m.assigned_to, m.snoozed_until,
    coalesce(d.transfer,
      (select min(o.transfer) from deposit o
        where o.tx = d.tx and o.network = d.network and o.address = d.address and o.asset = d.asset),
      substring(m.subject from '^transfer/(.*)$'), m.subject) as stake,
    m.loss_asset, m.loss_amount, m.loss_share, m.loss_value, m.currency
  from mismatch_loss m left join deposit d on d.id = m.deposit_id
  where m.cleared_at is null and m.resolved_at is null;

comment on view open_mismatch is 'Every mismatch that the evidence supports and that no person resolved, snoozed ones included.';

-- Who did what about a mismatch, and why. The columns of mismatch follow from it and are written in the same transaction.
create table mismatch_event (
  id bigint generated always as identity primary key,
  mismatch_id bigint not null references mismatch,
  at timestamptz not null default now(),
  -- A name, `token:NAME` of the API, `policy`, or `depositd` for a change by evidence.
  actor text not null check (actor <> ''),
  action text not null check (action in ('assigned', 'commented', 'snoozed', 'resolved', 'reopened',
    'comment_withdrawn', 'attached', 'written_off', 'write_off_withdrawn', 'matched', 'split')),
  -- The comment, or the reason.
  text text check (text <> ''),
  -- The second person, for an action that needs one.
  approved_by text,
  decision_id bigint references decision,
  before jsonb,
  after jsonb,
  -- The event that this one takes back. Nothing is taken back twice.
  undoes bigint unique references mismatch_event,
  -- People of the register whom the comment names, in lower case.
  mentions text[] check (mentions <> '{}'),
  constraint mismatch_event_text_given check (action in ('assigned', 'snoozed') or undoes is not null or text is not null),
  -- No token of the API is a second person.
  constraint mismatch_event_second_person check (lower(approved_by) <> lower(actor) and approved_by !~* '^token:')
);

create index mismatch_event_mismatch_id on mismatch_event (mismatch_id);
create index mismatch_event_mentions on mismatch_event using gin (mentions) where mentions is not null;
-- For the audit log.
create index mismatch_event_of_people on mismatch_event (at) where actor not in ('depositd', 'policy');

create function may_be_lost(loss numeric, severity text) returns boolean language sql immutable
  return loss is not null or severity = 'severe';

-- If money may be lost, people sign what ends the mismatch.
create function refuse_unsigned_loss() returns trigger language plpgsql as $$
begin
  if pg_has_role(current_user, (select relowner from pg_catalog.pg_class where oid = tg_relid), 'usage')
    or pg_has_role(current_user, 'depositd_decider', 'member') then
    return new;
  end if;
  raise exception 'mismatch %: it may be a loss, and resolving it needs a signed decision', new.id
    using errcode = 'insufficient_privilege';
end
$$;

create trigger mismatch_resolved before update of resolved_at on mismatch
  for each row when (old.resolved_at is null and new.resolved_at is not null and may_be_lost(new.loss_amount, new.severity))
  execute function refuse_unsigned_loss();

create trigger mismatch_event_decided before insert on mismatch_event
  for each row when (new.decision_id is not null) execute function refuse_undecided();
create trigger mismatch_event_append_only before update or delete or truncate on mismatch_event
  for each statement execute function refuse_change();

-- Files that people attached to a mismatch.
create table mismatch_attachment (
  id bigint generated always as identity primary key,
  mismatch_id bigint not null references mismatch,
  name text not null check (length(name) between 1 and 200),
  content bytea not null check (octet_length(content) between 1 and 5 * 1024 * 1024),
  sha256 text not null check (sha256 = encode(sha256(content), 'hex')),
  added_by text not null check (added_by <> ''),
  at timestamptz not null default now()
);

create index mismatch_attachment_mismatch_id on mismatch_attachment (mismatch_id);
create trigger mismatch_attachment_append_only before update or delete or truncate on mismatch_attachment
  for each statement execute function refuse_change();

-- A final transfer that no claim names, and the one deposit that it fits. Derived, and books nothing: a person or a policy
-- that accepts it adds a decision, which is evidence.
create table proposal (
  id bigint generated always as identity primary key,
  service_id text not null,
  -- The role in which the address of the transfer is watched: the payment of the deposit, or its delivery.
  role text not null check (role in ('deposit', 'recipient')),
  transfer text not null,
  score smallint not null check (score between 1 and 100),
  -- Each rule with its weight, its result, and the values it compared.
  reasons jsonb not null,
  -- Where the policy that was applied is written.
  policy text not null,
  state text not null default 'proposed' check (state in ('proposed', 'accepted', 'rejected', 'withdrawn')),
  proposed_at timestamptz not null default now(),
  -- When it was accepted, rejected, or withdrawn because the evidence decided otherwise.
  ended_at timestamptz,
  check ((state = 'proposed') = (ended_at is null)),
  unique (service_id, role, transfer)
);

-- Neither a deposit nor a transfer is in two open proposals.
create unique index proposal_open_transfer on proposal (role, transfer) where state = 'proposed';
create unique index proposal_open_deposit on proposal (role, service_id) where state = 'proposed';

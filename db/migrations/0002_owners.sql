-- What people decide, the owners whose addresses are watched, and the canary.

-- What people decide. The text is what they sign: what is to be done, on which grounds, and what it books. People and their
-- keys have no table: they are read from the decisions about them, as far as the signatures are valid.
create table decision (
  id bigint generated always as identity primary key,
  -- The text has it too, so that nothing that was signed can be done twice.
  uuid uuid not null unique,
  kind text not null,
  -- How many must sign it.
  people smallint not null check (people in (1, 2)),
  text text not null,
  requested_at timestamptz not null default clock_timestamp()
);

create table decision_event (
  id bigint generated always as identity primary key,
  decision_id bigint not null references decision,
  -- An outdated decision rests on what has changed since it was requested.
  action text not null check (action in ('signed', 'rejected', 'outdated')),
  -- No token of the API, `token:NAME`.
  person text not null check (person <> '' and person !~* '^token:'),
  -- A line of a signed note, https://c2sp.org/signed-note.
  signature text,
  reason text check (reason <> ''),
  at timestamptz not null default clock_timestamp(),
  constraint decision_event_signature check ((action = 'signed') = (signature is not null)),
  unique (decision_id, action, person)
);

create trigger decision_append_only before update or delete or truncate on decision
  for each statement execute function refuse_change();
create index decision_event_at on decision_event (at);

create trigger decision_event_append_only before update or delete or truncate on decision_event
  for each statement execute function refuse_change();

-- Without signatures, only the owner of the database may decide: a way out if the keys are lost.
create function refuse_unsigned() returns trigger language plpgsql as $$
begin
  if pg_has_role(current_user, (select relowner from pg_catalog.pg_class where oid = tg_relid), 'usage') then
    return new;
  end if;
  raise exception '%: only the owner of the database may decide without signatures', tg_table_name
    using errcode = 'insufficient_privilege';
end
$$;

-- For tables to which a login adds rows that people decided, if it may write decisions.
create function refuse_undecided() returns trigger language plpgsql as $$
begin
  if pg_has_role(current_user, (select relowner from pg_catalog.pg_class where oid = tg_relid), 'usage')
    or (new.decision_id is not null and pg_has_role(current_user, 'depositd_decider', 'member')) then
    return new;
  end if;
  raise exception '%: an entry of a person needs a signed decision', tg_table_name
    using errcode = 'insufficient_privilege';
end
$$;

-- Until there are people, the settings alone say by what rules deposits are decided.
create function has_people() returns boolean language sql stable as $$
  select exists (select from decision where kind = 'person')
$$;

-- By what deposits are decided, as JSON: policy, routes, contra accounts, senders, and up to which amount one person decides
-- alone. The last row is active.
create table rule_set (
  id bigint generated always as identity primary key,
  rules text not null check (rules is json object),
  since timestamptz not null default clock_timestamp(),
  requested_by text check (requested_by <> ''),
  approved_by text check (approved_by <> ''),
  decision_id bigint references decision,
  check (requested_by is not null or num_nonnulls(approved_by, decision_id) = 0)
);

create trigger rule_set_append_only before update or delete or truncate on rule_set
  for each statement execute function refuse_change();

create trigger rule_set_decided before insert on rule_set
  for each row when (has_people()) execute function refuse_undecided();

create view accounting.rule_sets as
  select id, rules::jsonb as rules, since, requested_by, approved_by, decision_id from rule_set;

comment on view accounting.rule_sets is 'One row per change of the rules by which deposits are decided. The last one is active.';
comment on column accounting.rule_sets.id is 'Number of the change.';
comment on column accounting.rule_sets.rules is 'Policy, routes, contra accounts, the addresses of the service, and the limits of one person, as JSON.';
comment on column accounting.rule_sets.since is 'When they became active.';
comment on column accounting.rule_sets.requested_by is 'Null if the settings alone made them active: before there were people, or in embedded mode.';
comment on column accounting.rule_sets.approved_by is 'The second person, if it took two.';
comment on column accounting.rule_sets.decision_id is 'The decision that people signed. Null without signatures.';

-- Among evidence, a decision of a person is stored with its signed decision, and one of the policy only matches.
create function check_decided() returns trigger language plpgsql as $$
declare
  said constant jsonb := convert_from(new.body, 'UTF8');
begin
  if said ->> 'by' = 'policy' then
    if said #>> '{verdict,kind}' = 'together' then
      return null;
    end if;
  elsif pg_has_role(current_user, (select relowner from pg_catalog.pg_class where oid = tg_relid), 'usage')
    or exists (select from public.decision where uuid::text = new.source_key) then
    return null;
  end if;
  raise exception 'inbox: a decision of % needs signatures', said ->> 'by' using errcode = 'insufficient_privilege';
end
$$;

create constraint trigger inbox_decided after insert on inbox
  for each row when (new.source = 'person') execute function check_decided();

create view accounting.decisions as
  select d.id, d.kind,
    case
      when ended.action is not null then ended.action
      when signed.people >= d.people then 'done'
      else 'waiting'
    end as state,
    d.people, signed.requested_by, d.requested_at, signed.approved_by,
    coalesce(ended.at, signed.last_at) as decided_at, ended.reason, d.text
  from decision d
    left join lateral (
      select count(*) as people, max(person) filter (where place = 1) as requested_by,
        max(person) filter (where place = 2) as approved_by, max(at) filter (where place = d.people) as last_at
      from (
        select person, at, row_number() over (order by id) as place
        from decision_event where decision_id = d.id and action = 'signed'
      ) as signature
    ) as signed on true
    left join lateral (
      select action, at, reason from decision_event where decision_id = d.id and action <> 'signed' order by id limit 1
    ) as ended on true;

comment on view accounting.decisions is 'One row per decision that people signed or were to sign. "ledger verify" checks the signatures.';
comment on column accounting.decisions.id is 'Number of the decision.';
comment on column accounting.decisions.kind is 'What is decided: person, journal, reversal, close, reopen, write_off, match, opening, restore or addresses.';
comment on column accounting.decisions.state is 'waiting for a second person, done, rejected, or outdated: what it rests on has changed since.';
comment on column accounting.decisions.people is 'How many people must sign it.';
comment on column accounting.decisions.requested_by is 'The person who requested it.';
comment on column accounting.decisions.requested_at is 'When it was requested.';
comment on column accounting.decisions.approved_by is 'The second person; empty if there is none.';
comment on column accounting.decisions.decided_at is 'When it was done, or ended otherwise; empty while it waits.';
comment on column accounting.decisions.reason is 'Why it was rejected.';
comment on column accounting.decisions.text is 'What was signed, as JSON: the change, its grounds, and what it books.';

-- Channels and StableWallets, and where the service was told to forward their deposits.
create table owner (
  kind text not null check (kind in ('channel', 'stable_wallet')),
  id text not null check (id <> ''),
  forward_network text,
  forward_asset text,
  forward_recipient text,
  created_at timestamptz not null default now(),
  number bigint not null generated always as identity unique,
  added_at timestamptz not null default clock_timestamp(),
  added_by text not null check (added_by <> ''),
  approved_by text check (approved_by <> '' and lower(approved_by) <> lower(added_by)),
  decision_id bigint references decision,
  primary key (kind, id),
  constraint owner_forward_recipient check ((kind = 'channel') = (forward_recipient is not null)),
  constraint owner_forward_network check ((kind = 'channel') = (forward_network is not null))
);

create trigger owner_append_only before update or delete or truncate on owner
  for each statement execute function refuse_change();

-- A recipient is watched from the creation of the oldest channel that forwards to it.
create index owner_forward on owner (forward_network, forward_recipient) where forward_recipient is not null;

-- Every watched address. A recipient may serve several owners, so it names none.
create table address_book (
  id bigint not null generated always as identity unique,
  network text not null,
  address text not null,
  role text not null check (role in ('deposit', 'recipient')),
  owner_kind text,
  owner_id text,
  added_at timestamptz not null default now(),
  -- A person, or "depositd" if a program of this project made the entry.
  added_by text not null check (added_by <> ''),
  -- The second person; null if the settings required none.
  approved_by text check (approved_by <> '' and lower(approved_by) <> lower(added_by)),
  -- A payment in an earlier block is not valid; null if there is no such limit.
  valid_from timestamptz,
  decision_id bigint references decision,
  primary key (network, address, role),
  foreign key (owner_kind, owner_id) references owner (kind, id),
  check ((role = 'deposit') = (owner_id is not null))
);

create trigger address_book_append_only before update or delete or truncate on address_book
  for each statement execute function refuse_change();

-- A claim names an owner; each claim is compared with the addresses of that owner.
create index address_book_owner on address_book (owner_kind, owner_id) where owner_id is not null;

-- Ends of validity. The last one of an address applies: it corrects those before it.
create table address_end (
  id bigint generated always as identity primary key,
  address_id bigint not null references address_book (id),
  -- A payment in a block of this time or a later one is not valid; null if the end is withdrawn.
  valid_until timestamptz,
  reason text not null check (reason <> ''),
  ended_by text not null check (ended_by <> ''),
  approved_by text check (approved_by <> '' and lower(approved_by) <> lower(ended_by)),
  decision_id bigint references decision,
  at timestamptz not null default clock_timestamp()
);

create index address_end_address on address_end (address_id, id desc);

create trigger address_end_append_only before update or delete or truncate on address_end
  for each statement execute function refuse_change();

-- The daemon's login makes entries as a program only.
create trigger owner_decided before insert on owner
  for each row when (new.added_by <> 'depositd') execute function refuse_undecided();
create trigger address_book_decided before insert on address_book
  for each row when (new.added_by <> 'depositd') execute function refuse_undecided();
create trigger address_end_decided before insert on address_end
  for each row execute function refuse_undecided();

create view accounting.address_book as
  select b.network, b.address, b.role, b.owner_kind, b.owner_id, b.added_at, b.added_by, b.approved_by, b.valid_from,
    e.valid_until, e.at as ended_at, e.ended_by, e.approved_by as end_approved_by, e.reason as end_reason, b.decision_id,
    e.decision_id as end_decision_id
  from address_book b left join lateral (
    select valid_until, at, ended_by, approved_by, reason, decision_id from address_end
    where address_id = b.id order by id desc limit 1
  ) e on true;

comment on view accounting.address_book is 'One row per address and role: who added and approved it, and for payments of which time it is valid.';
comment on column accounting.address_book.network is 'Network of the address.';
comment on column accounting.address_book.address is 'Deposit address, or recipient of forwards.';
comment on column accounting.address_book.role is 'deposit or recipient.';
comment on column accounting.address_book.owner_kind is 'channel or stable_wallet; empty for a recipient, which may serve several owners.';
comment on column accounting.address_book.owner_id is 'Channel or StableWallet of the address; empty for a recipient.';
comment on column accounting.address_book.added_at is 'When the entry was stored.';
comment on column accounting.address_book.added_by is 'Person who added it, or depositd if a program of depositd did.';
comment on column accounting.address_book.approved_by is 'Second person, who approved it; empty if the settings required none.';
comment on column accounting.address_book.valid_from is 'A payment in an earlier block is not valid; empty if there is no such limit.';
comment on column accounting.address_book.valid_until is 'A payment in a block of this time or a later one is not valid; empty if the entry has not ended.';
comment on column accounting.address_book.ended_at is 'When the last decision about its end was stored; empty if there is none.';
comment on column accounting.address_book.ended_by is 'Person who ended it, or withdrew its end.';
comment on column accounting.address_book.end_approved_by is 'Second person, who approved that; empty if the settings required none.';
comment on column accounting.address_book.end_reason is 'Reason of the last decision about its end.';
comment on column accounting.address_book.decision_id is 'Signed decision that added it; empty if a program did, or if it was not signed.';
comment on column accounting.address_book.end_decision_id is 'Signed decision about its end; empty if that was not signed.';

-- The canary is a webhook that depositd sends to its own public address; it is no evidence. The scheduler that advances
-- started_at sends it, so that several schedulers send one. since says when the canary was last turned on.
create table canary (
  is_only boolean primary key default true check (is_only),
  is_on boolean not null default true,
  since timestamptz not null default now(),
  started_at timestamptz,
  succeeded_at timestamptz
);

-- A canary is recognized by a token, of which only the hash is stored. Old rows are deleted.
create table canary_webhook (
  token_sha256 bytea primary key check (length(token_sha256) = 32),
  sent_at timestamptz not null default now(),
  received_at timestamptz
);

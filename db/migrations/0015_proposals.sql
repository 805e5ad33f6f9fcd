-- What fits without a key that would decide it: a final transfer that nothing names, and the one deposit that fits it.
-- It is derived and books nothing; once a person or a policy agrees, a ruling does, which is evidence.
create table proposal (
  id bigint generated always as identity primary key,
  service_id text not null,
  -- What the transfer's address is watched as: the payment of the deposit, or its delivery.
  role text not null check (role in ('deposit', 'recipient')),
  transfer text not null,
  score smallint not null check (score between 1 and 100),
  -- Each rule with its weight, whether it is fulfilled, and what it compared.
  reasons jsonb not null,
  -- Where the policy that was held against them is written.
  policy text not null,
  state text not null default 'proposed' check (state in ('proposed', 'accepted', 'rejected', 'withdrawn')),
  proposed_at timestamptz not null default now(),
  -- When it was agreed to, refused, or taken back since the evidence decided otherwise.
  ended_at timestamptz,
  check ((state = 'proposed') = (ended_at is null)),
  unique (service_id, role, transfer)
);

-- What is open fits nothing else: neither the deposit nor the transfer is proposed twice.
create unique index proposal_open_transfer on proposal (role, transfer) where state = 'proposed';
create unique index proposal_open_deposit on proposal (role, service_id) where state = 'proposed';

-- Final transfers that no deposit names in time, but for those that a person has settled otherwise.
create view unnamed_transfer as
  select m.id as mismatch_id, m.group_id, m.deposit_id, m.network, m.asset, m.value as amount,
    case m.kind when 'unreported' then 'deposit' else 'recipient' end as role,
    case m.kind when 'unreported' then d.transfer else substr(m.subject, length('transfer/') + 1) end as transfer,
    case m.kind when 'unreported' then d.address else m.detail ->> 'recipient' end as address
  from mismatch m left join deposit d on d.id = m.deposit_id
  where m.cleared_at is null and m.resolved_at is null and m.kind in ('unreported', 'settlement_unreported');

-- Deposits of which the payment, or any delivery, was not found, with the transfers of nobody that may be it. What shares a
-- group is decided by its keys, and what was refused is not asked again.
create view possible_match as
  select pair.*, d.service_id, d.group_id as open_group_id from (
    select u.*, d.id as open_id, 0::numeric as difference, d.network as open_network, d.address as open_address,
      d.asset as open_asset, d.amount as open_amount, d.tx as open_tx
    from unnamed_transfer u
      join deposit d on u.role = 'deposit' and d.state = 'observed' and d.transfer is null
        and d.network = u.network and d.address = u.address and d.asset = u.asset and d.amount = u.amount
    union all
    select u.*, d.id, abs(coalesce(d.settlement_amount, d.amount) - u.amount), o.forward_network, o.forward_recipient,
      coalesce(d.settlement_asset,
        (select key from asset where network = o.forward_network and symbol = o.forward_asset)),
      d.settlement_amount, d.settlement_tx
    from unnamed_transfer u
      join owner o on u.role = 'recipient' and o.forward_network = u.network and o.forward_recipient = u.address
      join deposit d on d.owner_kind = o.kind and d.owner_id = o.id and d.state in ('confirmed', 'settling')
        and d.final_at is not null and d.settled_at is null and d.matrix -> 'settlement' ->> 'chain' = 'absent'
        and (d.settlement_amount is null or d.settlement_amount between u.amount / 2 and u.amount * 2)
  ) pair join deposit d on d.id = pair.open_id
  where d.service_id is not null and d.merged_into is null and d.group_id <> pair.group_id and not exists (
    select from proposal p
    where p.service_id = d.service_id and p.role = pair.role and p.transfer = pair.transfer and p.state = 'rejected');

create index mismatch_open_kind on mismatch (kind, id) where cleared_at is null;

grant select, insert, update on proposal to depositd_daemon;
grant select on unnamed_transfer, possible_match to depositd_daemon;

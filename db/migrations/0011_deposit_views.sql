-- What accountants read of deposits, mismatches and the work of the service.

create view accounting.deposits as select * from deposit_report where state <> 'ignored';

comment on view accounting.deposits is 'One row per deposit, as the evidence stands now.';
comment on column accounting.deposits.id is 'Our number of the deposit, as in "bin/depositd deposits show ID".';
comment on column accounting.deposits.service is 'Name of the deposit service in the settings.';
comment on column accounting.deposits.service_id is 'The deposit service''s id, with "SERVICE/" before it unless the service is the default one; empty while the service has not reported it.';
comment on column accounting.deposits.state is 'observed, confirmed, settling, settled, reconciled; or orphaned, refunded, held, failed.';
comment on column accounting.deposits.owner_kind is 'channel or stable_wallet.';
comment on column accounting.deposits.owner_id is 'The owner: the id given when the channel or wallet was created, with "SERVICE/" before it unless the service is the default one.';
comment on column accounting.deposits.network is 'Network on which the payment arrived.';
comment on column accounting.deposits.address is 'Deposit address that was paid.';
comment on column accounting.deposits.asset_symbol is 'Label of the asset paid. Not unique: two tokens may share it.';
comment on column accounting.deposits.asset is 'Asset paid: network/contract, network/mint or network/native.';
comment on column accounting.deposits.amount is 'Amount paid, in units of the asset.';
comment on column accounting.deposits.amount_base is 'Amount paid, in base units.';
comment on column accounting.deposits.tx is 'Transaction of the payment.';
comment on column accounting.deposits.settlement_network is 'Network on which the deposit was delivered; stable-wallet for a credit.';
comment on column accounting.deposits.settlement_address is 'Recipient of the forward, or the id of the StableWallet credited.';
comment on column accounting.deposits.settlement_asset_symbol is 'Label of the asset delivered.';
comment on column accounting.deposits.settlement_asset is 'Asset delivered.';
comment on column accounting.deposits.settlement_amount is 'Amount delivered, in units of the asset.';
comment on column accounting.deposits.settlement_amount_base is 'Amount delivered, in base units.';
comment on column accounting.deposits.settlement_tx is 'Transaction of the forward; empty for a credit.';
comment on column accounting.deposits.fee is 'Fee the service states, in units of the asset delivered.';
comment on column accounting.deposits.fee_base is 'Fee the service states, in base units.';
comment on column accounting.deposits.deposited_at is 'Time of the block that holds the payment.';
comment on column accounting.deposits.final_at is 'When the payment was read as final.';
comment on column accounting.deposits.settled_at is 'When the delivery was proved.';
comment on column accounting.deposits.reconciled_at is 'When all required sources first agreed.';

create view accounting.mismatches as
  select m.id, m.service, m.kind, m.severity, m.deposit_id, m.subject, m.network, a.symbol as asset_symbol, m.asset,
    accounting.in_units(m.value, a.decimals) as amount, m.value as amount_base,
    -- Balances move with every payment, and are no part of what decides whether a mismatch is still the same.
    case when b.wallet is null then m.detail else m.detail || jsonb_build_object('balance', b.balance::text,
      'books', b.books::text, 'leaving', b.leaving::text, 'arriving', b.arriving::text) end as detail,
    m.opened_at, m.cleared_at, m.cleared_how,
    coalesce(least(m.resolved_at, m.cleared_at), now()) - m.opened_at as age,
    case when m.cleared_at is not null then 'cleared'
      when m.resolved_at is not null then 'resolved'
      when m.snoozed_until > now() or m.snooze_ends_with is not null then 'snoozed'
      else 'open' end as status,
    m.assigned_to, m.snoozed_until, m.snooze_ends_with, m.resolved_at, m.resolved_by, m.resolved_reason as reason,
    m.loss_asset_symbol, m.loss_asset, m.loss, m.loss_amount as loss_base, m.loss_share, m.loss_value, m.currency
  from mismatch_loss m
    left join asset a on a.key = m.asset
    left join wallet_balance b
      on m.kind = 'wallet_balance_mismatch' and m.cleared_at is null and b.wallet = m.detail ->> 'wallet';

comment on view accounting.mismatches is 'Every mismatch that was ever opened; its status says whether it is open.';
comment on column accounting.mismatches.id is 'Number of the mismatch.';
comment on column accounting.mismatches.service is 'Name of the deposit service in the settings; empty if it is about no single service.';
comment on column accounting.mismatches.kind is 'What is wrong; docs/mismatches.md explains each kind.';
comment on column accounting.mismatches.severity is 'info, warning or severe.';
comment on column accounting.mismatches.deposit_id is 'The deposit it is about; empty if there is none.';
comment on column accounting.mismatches.subject is 'What it is about: deposit/ID, transfer/NETWORK/TX/INDEX, inbox/ID, webhook/EVENT, owner/KIND/ID, network/NAME or balance/NETWORK/ADDRESS/ASSET.';
comment on column accounting.mismatches.network is 'Network it is about.';
comment on column accounting.mismatches.asset_symbol is 'Label of that asset.';
comment on column accounting.mismatches.asset is 'Asset of the deposit, transfer or balance that it is about.';
comment on column accounting.mismatches.amount is 'Amount of the deposit, transfer or balance that it is about, in units of the asset. The possible loss is in loss.';
comment on column accounting.mismatches.amount_base is 'The same amount, in base units.';
comment on column accounting.mismatches.detail is 'What each side states, with amounts in base units.';
comment on column accounting.mismatches.opened_at is 'When it was noticed.';
comment on column accounting.mismatches.cleared_at is 'When the evidence stopped supporting it; empty until then.';
comment on column accounting.mismatches.cleared_how is 'evidence: the evidence changed; person: a person decided.';
comment on column accounting.mismatches.age is 'From opened_at until it was resolved or cleared, or to now while open.';
comment on column accounting.mismatches.status is 'open; snoozed: open, and looked at later; resolved: by a person; cleared: by evidence.';
comment on column accounting.mismatches.assigned_to is 'The person who works on it.';
comment on column accounting.mismatches.snoozed_until is 'When it is to be looked at again.';
comment on column accounting.mismatches.snooze_ends_with is 'new evidence or a larger loss: what ends a snooze without a time.';
comment on column accounting.mismatches.resolved_at is 'When a person resolved it; empty once new evidence or a person opened it again.';
comment on column accounting.mismatches.resolved_by is 'The person who resolved it.';
comment on column accounting.mismatches.reason is 'Why it was resolved.';
comment on column accounting.mismatches.loss_asset_symbol is 'Label of the asset of the loss.';
comment on column accounting.mismatches.loss_asset is 'Asset of the loss; empty if nothing is lost, or if it cannot be measured. docs/mismatches.md says which, for each kind.';
comment on column accounting.mismatches.loss is 'The possible loss, in units of its asset.';
comment on column accounting.mismatches.loss_base is 'The possible loss, in base units.';
comment on column accounting.mismatches.loss_share is 'The loss as a share of the whole amount, such as the delivery that is owed; 1 is all of it.';
comment on column accounting.mismatches.loss_value is 'Loss at the price that applied when the mismatch opened; empty if there is no price.';
comment on column accounting.mismatches.currency is 'Currency of loss_value; empty while nothing is valued.';

create view accounting.mismatch_history as
  select m.id as mismatch_id, m.opened_at as at, 'depositd' as actor, 'opened' as action, null as text,
    null as approved_by, null::bigint as decision_id, null::jsonb as before, null::jsonb as after,
    null::bigint as event, null::bigint as undoes
  from mismatch m
  union all
  select mismatch_id, at, actor, action, text, approved_by, decision_id, before, after, id, undoes from mismatch_event
  union all
  select m.id, m.cleared_at, 'depositd', 'cleared', null, null, null, null, null, null, null
  from mismatch m where m.cleared_at is not null;

comment on view accounting.mismatch_history is 'The history of each mismatch: opened, worked on, cleared. Append-only.';
comment on column accounting.mismatch_history.mismatch_id is 'Number of the mismatch.';
comment on column accounting.mismatch_history.at is 'When it was done.';
comment on column accounting.mismatch_history.actor is 'The person who did it, or depositd if the evidence did.';
comment on column accounting.mismatch_history.action is 'opened, assigned, commented, comment_withdrawn, attached, snoozed, resolved, reopened, written_off, write_off_withdrawn, matched, split or cleared.';
comment on column accounting.mismatch_history.text is 'The comment, or the reason.';
comment on column accounting.mismatch_history.approved_by is 'The second person; empty if none was required.';
comment on column accounting.mismatch_history.decision_id is 'The signed decision; empty if none was needed, or if it was decided without signatures.';
comment on column accounting.mismatch_history.before is 'The changed values, before.';
comment on column accounting.mismatch_history.after is 'The changed values, after; for a decision about money, the decision.';
comment on column accounting.mismatch_history.event is 'Number of the event; empty for what evidence opened or cleared.';
comment on column accounting.mismatch_history.undoes is 'The event that this one takes back; empty for all others.';

-- `entry` is unique, and names the row behind it.
create view accounting.audit_log as
  select 'access ' || id as entry, at, person, action, detail, login from access_event
  union all
  select 'decision event ' || e.id, e.at, e.person, e.action, 'decision ' || d.id || ': ' || replace(d.kind, '_', ' '), null
  from decision_event e join decision d on d.id = e.decision_id
  union all
  select 'mismatch event ' || id, at, actor, action,
    'mismatch ' || mismatch_id || coalesce(', undoes mismatch event ' || undoes, ''), null
  from mismatch_event where actor not in ('depositd', 'policy')
  union all
  select 'rules ' || id, since, requested_by, 'rules_changed', 'rules ' || id, null from rule_set;

comment on view accounting.audit_log is 'What people did, one row each: sign-ins, data that was taken out, webhooks that were retried or dropped, tokens of the API, decisions, work on cases, changes of the rules.';
comment on column accounting.audit_log.entry is 'The row behind it: its table and number.';
comment on column accounting.audit_log.at is 'When it was.';
comment on column accounting.audit_log.person is 'The person; empty for a command without a key, and for a change of the settings.';
comment on column accounting.audit_log.action is 'invited, passkey_made, signed_in, signed_out, sessions_ended; exported, bundle_made, dispute_made, attachment_taken; webhooks_retried, webhooks_dropped; token_created, token_revoked; endpoint_created, endpoint_changed, endpoint_removed; signed, rejected or outdated for a decision; the action on a mismatch; rules_changed.';
comment on column accounting.audit_log.detail is 'What it was about; by what a person signed in: passkey, link or the address of the provider; or who invited them.';
comment on column accounting.audit_log.login is 'The login of the database that wrote it; empty for what has a record of its own.';

-- Several mismatches of one transfer are mostly one loss: the largest of each asset counts, once.
create view accounting.mismatch_ageing as
  select service, kind, severity, a.symbol as asset_symbol, asset, bucket, from_age,
    sum(mismatches)::bigint as mismatches, accounting.in_units(sum(loss), a.decimals) as amount,
    sum(loss) as amount_base, sum(loss_value) as value, max(currency) as currency
  from (
    select service, kind, severity, loss_asset as asset, stake, bucket, from_age, count(*) as mismatches,
      max(loss_amount) as loss, max(loss_value) as loss_value, max(currency) as currency
    from open_mismatch cross join lateral (
      select bucket, from_age from (values
        ('< 1 h', interval '0'), ('< 24 h', interval '1 hour'), ('< 3 d', interval '24 hours'),
        ('< 7 d', interval '3 days'), ('< 30 d', interval '7 days'), ('older', interval '30 days')
      ) as buckets (bucket, from_age)
      where from_age <= greatest(now() - opened_at, interval '0') order by from_age desc limit 1
    ) as aged
    group by service, kind, severity, loss_asset, stake, bucket, from_age
  ) as stakes left join asset a on a.key = asset
  group by service, kind, severity, a.symbol, a.decimals, asset, bucket, from_age;

comment on view accounting.mismatch_ageing is 'Open mismatches by age.';
comment on column accounting.mismatch_ageing.service is 'Name of the deposit service in the settings; empty for mismatches about no single service.';
comment on column accounting.mismatch_ageing.kind is 'What is wrong; docs/mismatches.md explains each kind.';
comment on column accounting.mismatch_ageing.severity is 'info, warning or severe.';
comment on column accounting.mismatch_ageing.asset_symbol is 'Label of the asset of the losses.';
comment on column accounting.mismatch_ageing.asset is 'Asset of the losses; empty for mismatches without one.';
comment on column accounting.mismatch_ageing.bucket is '< 1 h, < 24 h, < 3 d, < 7 d, < 30 d or older, each without those before it.';
comment on column accounting.mismatch_ageing.from_age is 'Least age in the bucket. Sort by it.';
comment on column accounting.mismatch_ageing.mismatches is 'How many are open.';
comment on column accounting.mismatch_ageing.amount is 'Losses, in units of the asset. Of one transfer, the largest counts.';
comment on column accounting.mismatch_ageing.amount_base is 'Losses, in base units.';
comment on column accounting.mismatch_ageing.value is 'Losses at the prices that applied when the mismatches opened; empty if there is no price.';
comment on column accounting.mismatch_ageing.currency is 'Currency of value; empty while nothing is valued.';

create view accounting.value_at_risk as
  select s.service, a.symbol as asset_symbol, s.asset, s.severity, count(*) as transfers,
    accounting.in_units(sum(s.loss), a.decimals) as amount, sum(s.loss) as amount_base,
    sum(s.loss_value) as value, max(s.currency) as currency
  from (
    select loss_asset as asset, stake, max(loss_amount) as loss, max(loss_value) as loss_value,
      max(currency) as currency,
      (array['severe', 'warning', 'info'])[min(array_position(array['severe', 'warning', 'info'], severity))] as severity,
      (array_agg(service order by loss_amount desc, id))[1] as service
    from open_mismatch where loss_asset is not null group by loss_asset, stake
  ) as s join asset a on a.key = s.asset
  group by s.service, a.symbol, a.decimals, s.asset, s.severity;

comment on view accounting.value_at_risk is 'Possible losses by open mismatches, per service and asset. If several are about one transfer, the largest loss of each asset counts once, under the service of that loss and the highest severity.';
comment on column accounting.value_at_risk.service is 'Name of the deposit service in the settings; empty for losses by no single service.';
comment on column accounting.value_at_risk.asset_symbol is 'Label of the asset.';
comment on column accounting.value_at_risk.asset is 'Asset: network/contract, network/mint or network/native.';
comment on column accounting.value_at_risk.severity is 'info, warning or severe.';
comment on column accounting.value_at_risk.transfers is 'How many transfers, or claims of one, have a loss.';
comment on column accounting.value_at_risk.amount is 'Losses, in units of the asset.';
comment on column accounting.value_at_risk.amount_base is 'Losses, in base units.';
comment on column accounting.value_at_risk.value is 'Losses at the prices that applied when the mismatches opened; empty if there is no price.';
comment on column accounting.value_at_risk.currency is 'Currency of value; empty while nothing is valued.';

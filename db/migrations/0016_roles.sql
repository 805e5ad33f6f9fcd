-- Who may do what. The daemon works as depositd_daemon, which adds to the books and never changes them; it may log in as a
-- user that owns nothing and is a member of that role. People and tools that only read are members of depositd_accountant.
-- depositd_decider also writes what people signed: only the code that checks the signatures works as it.
-- The console works with the rights of its reader: depositd_viewer sees cases, deposits and books, depositd_operator also works
-- on cases, and depositd_auditor also sees what people did.
-- depositd_backup reads everything, for copies: pg_read_all_data would do, but only a superuser may grant it, and it reads
-- every database of the server. Roles belong to the whole server, so that another database may have made them already.
do $$
declare
  role text;
begin
  foreach role in array array['depositd_daemon', 'depositd_decider', 'depositd_accountant', 'depositd_viewer', 'depositd_operator',
    'depositd_auditor', 'depositd_backup'] loop
    begin
      execute format('create role %I nologin', role);
    exception when duplicate_object or unique_violation then null;
    end;
  end loop;
  if not pg_has_role('depositd_decider', 'depositd_daemon', 'member') then
    grant depositd_daemon to depositd_decider;
  end if;
  if not (pg_has_role('depositd_daemon', 'depositd_operator', 'member') and pg_has_role('depositd_daemon', 'depositd_auditor', 'member')
    and pg_has_role('depositd_operator', 'depositd_viewer', 'member') and pg_has_role('depositd_auditor', 'depositd_viewer', 'member')) then
    grant depositd_viewer to depositd_operator, depositd_auditor;
    grant depositd_operator, depositd_auditor to depositd_daemon;
  end if;
  execute format('grant depositd_daemon to %I', current_user);
end
$$;

-- Databases from servers before Postgres 15 let every user create tables here, which would be found before those of others.
revoke create on schema public from public;
grant usage on schema public to depositd_daemon;
grant usage on schema accounting to depositd_accountant, depositd_daemon;

-- The daemon: evidence.
grant select on kysely_migration, kysely_migration_lock to depositd_daemon;
grant select, insert on inbox, webhook_conflict, chain_transfer, owner, address_book to depositd_daemon;
grant select on address_end to depositd_daemon;
grant insert (address_id, valid_until, reason, ended_by, approved_by, decision_id) on address_end to depositd_decider;
grant select, insert, delete on quarantine, chain_movement to depositd_daemon;
grant select, insert, update on webhook_repeat, api_record, evidence_group, link_key, evidence, stream, canary,
  chain_watch, chain_network to depositd_daemon;
grant select, insert, update, delete on inbox_pending, canary_webhook, chain_coverage, chain_gap_since,
  named_transaction, leg_search, balance_point, balance_difference to depositd_daemon;
grant select, insert on asset to depositd_daemon;
grant update (symbol, decimals) on asset to depositd_daemon;
grant select on price, rule_set, active_sender, valuation_rule, active_valuation, chain_gap to depositd_daemon;
grant insert (asset, currency, at, price, source) on price to depositd_daemon;
grant insert (rules) on rule_set to depositd_daemon;
grant insert (requested_by, approved_by, decision_id) on rule_set to depositd_decider;
grant insert (currency, max_age, own_accounts, method, pool) on valuation_rule to depositd_daemon;

-- The daemon: deposits and mismatches.
grant select, insert, update on deposit, mismatch, proposal, withdrawal, wallet_balance to depositd_daemon;
grant select, insert on mismatch_event to depositd_daemon;
grant select, insert (mismatch_id, name, content, sha256, added_by) on mismatch_attachment to depositd_daemon;
grant select, insert, delete on deposit_count, deposit_hour, event_pending to depositd_daemon;
grant select, insert, update, delete on notification, notification_message to depositd_daemon;
grant select, insert on event to depositd_daemon;
grant select, insert, update on event_endpoint to depositd_daemon;
grant select, insert, update, delete on event_endpoint_secret, event_delivery to depositd_daemon;
grant select, insert, delete on event_attempt to depositd_daemon;
grant select on deposit_hour_counted, deposit_report, open_mismatch, unnamed_transfer, possible_match to depositd_daemon;

-- The daemon: the books. It does not choose the numbers and times of journals, nor when and after which journal a month is
-- closed.
grant select, insert on ledger_account, ledger_transfer, seal,
  seal_node, checkpoint, cosignature to depositd_daemon;
grant select on decision, decision_event, manual_journal, opening_lot, ledger_journal, ledger_period, ledger_period_event,
  ledger_period_balance, ledger_snapshot_day, ledger_snapshot, ledger_last_cut,
  account_label, ledger_entry, ledger_balance, ledger_transit, ledger_tie to depositd_daemon;
grant insert (posting_key, kind, deposit_id, transfer, reverses, event_at, period) on ledger_journal to depositd_daemon;
grant select, insert (deposit_id, number, action, journal_id, account, asset, amount, height, block_hash, final_at, reason)
  on credit_safety to depositd_daemon;
revoke execute on function make_ledger_partitions, make_ledger_snapshot, ledger_cut, keep_account_labels, ledger_turnover,
  guard_ledger_transfers, hold_period_event from public;
grant execute on function make_ledger_partitions, make_ledger_snapshot, ledger_cut, keep_account_labels, ledger_turnover
  to depositd_daemon;

-- Sign-ins.
grant select, insert, delete on session, saved_view to depositd_daemon;
grant select, insert (person, action, detail) on access_event to depositd_daemon;
grant usage on sequence access_event_id_seq to depositd_daemon, depositd_accountant;
grant insert (person, action, detail) on access_event to depositd_accountant;
grant select, update (passkey) on invitation to depositd_daemon;
grant insert, delete on invitation to depositd_decider;

-- Tokens of the API.
grant select, insert (name, sha256, scopes, services, owners, created_by), update (revoked_at, last_used_at) on api_token
  to depositd_daemon;
grant usage on sequence api_token_id_seq to depositd_daemon;

-- What people decide.
grant insert (uuid, kind, people, text) on decision to depositd_decider;
grant insert (decision_id, action, person, signature, reason) on decision_event to depositd_decider;
grant insert on manual_journal, ledger_period_balance to depositd_decider;
grant insert (period, action, actor, approved_by, decision_id, reason, forced, sha256) on ledger_period_event
  to depositd_decider;

grant select, insert on valued_line, disposal to depositd_daemon;
grant select on valued_journal to depositd_daemon;
grant insert (journal_id, close_id, kind, event_at, period, rule_id, currency, places) on valued_journal to depositd_daemon;
grant select, insert, update, delete on value_lot to depositd_daemon;

grant usage on sequence inbox_id_seq, quarantine_id_seq, evidence_group_id_seq, deposit_id_seq, mismatch_id_seq,
  mismatch_event_id_seq, mismatch_attachment_id_seq, proposal_id_seq, balance_difference_id_seq, ledger_journal_id_seq,
  price_id_seq, rule_set_id_seq, valuation_rule_id_seq, valued_journal_id_seq, credit_safety_id_seq, event_pending_id_seq,
  event_endpoint_id_seq, event_delivery_id_seq, event_attempt_id_seq,
  notification_id_seq, notification_message_id_seq to depositd_daemon;
grant usage on sequence decision_id_seq, decision_event_id_seq, ledger_period_event_id_seq to depositd_decider;

-- Accountants: the schema made for them; and the books, which `ledger export`, `ledger checkpoints export` and `ledger verify`
-- read, with no more of deposits, owners and balances than these need. A cut of the books makes writers wait, so only the
-- daemon may make one.
grant select on all tables in schema accounting to depositd_accountant, depositd_daemon;
revoke execute on function accounting.scorecard_between, accounting.in_transit_at, accounting.trial_balance,
  accounting.trial_balance_of, accounting.statement from public;
grant execute on function accounting.scorecard_between, accounting.in_transit_at, accounting.trial_balance,
  accounting.trial_balance_of, accounting.statement to depositd_accountant, depositd_daemon;
grant select on decision, decision_event, access_event, ledger_journal, ledger_transfer, ledger_account, ledger_entry, manual_journal, opening_lot,
  credit_safety, asset, seal, seal_node,
  checkpoint, cosignature, ledger_period, ledger_period_event, ledger_period_balance, ledger_snapshot_day, ledger_snapshot, ledger_tie,
  account_label, price, valuation_rule, active_valuation, valued_journal, valued_line, disposal, value_lot
  to depositd_accountant;
grant select (id, transfer, state, merged_into, owner_kind, owner_id, amount, deposited_at) on deposit to depositd_accountant;
grant select (kind, id) on owner to depositd_accountant;
grant select (network, address) on balance_point to depositd_accountant;
grant execute on function ledger_turnover to depositd_accountant;

-- Readers of the console: all but the tables of sign-ins and tokens, and what people did only as auditors.
grant usage on schema public, accounting to depositd_viewer;
grant select on all tables in schema public, accounting to depositd_viewer;
revoke select on session, invitation, api_token, idempotency_key, event_endpoint_secret, access_event, accounting.audit_log
  from depositd_viewer;
grant select on accounting.audit_log to depositd_auditor;
grant execute on function accounting.scorecard_between, accounting.in_transit_at, accounting.trial_balance,
  accounting.trial_balance_of, accounting.statement, ledger_turnover to depositd_viewer;
grant insert on mismatch_event to depositd_operator;
grant insert (type, deposit_id, service, data) on event_pending to depositd_operator;
grant insert (mismatch_id, name, content, sha256, added_by) on mismatch_attachment to depositd_operator;
grant update (assigned_to, snoozed_until, snooze_ends_with, resolved_at, resolved_by, resolved_reason) on mismatch
  to depositd_operator;
grant usage on sequence mismatch_event_id_seq, mismatch_attachment_id_seq, event_pending_id_seq to depositd_operator;
grant select, insert (token_id, key, sha256, event_id), delete on idempotency_key to depositd_operator;

-- Backups: also what later migrations and months add.
grant usage on schema public, accounting to depositd_backup;
grant select on all tables in schema public, accounting to depositd_backup;
grant select on all sequences in schema public to depositd_backup;
alter default privileges in schema public, accounting grant select on tables to depositd_backup;
alter default privileges in schema public grant select on sequences to depositd_backup;

-- Before the first ANALYZE of a table, Postgres assumes two hundred distinct values in a column and one null in two hundred
-- rows, and would look up the groups of a batch by reading whole tables. These values hold however many rows there are, and
-- ANALYZE replaces them. A negative number of distinct values is a share of the rows.
select pg_restore_attribute_stats('schemaname', 'public', 'relname', relname, 'attname', attname, 'inherited', false,
  'null_frac', null_frac, 'avg_width', 8, 'n_distinct', n_distinct)
from (values
  ('link_key', 'group_id', 0::real, -0.2::real),
  ('evidence', 'group_id', 0, -0.25),
  ('deposit', 'group_id', 0, -1),
  ('deposit', 'merged_into', 0.99, -0.01),
  ('ledger_journal', 'deposit_id', 0.01, -0.5)
) as column_of (relname, attname, null_frac, n_distinct);

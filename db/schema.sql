table public.access_event (
  action text not null,
  at timestamp with time zone not null default clock_timestamp(),
  detail text,
  id bigint not null generated as identity,
  login text not null default SESSION_USER,
  person text
);
table public.account_label (
  code text,
  name text,
  pattern text not null,
  place integer not null
);
table public.address_book (
  added_at timestamp with time zone not null default now(),
  added_by text not null,
  address text not null,
  approved_by text,
  decision_id bigint,
  id bigint not null generated as identity,
  network text not null,
  owner_id text,
  owner_kind text,
  role text not null,
  valid_from timestamp with time zone
);
table public.address_end (
  address_id bigint not null,
  approved_by text,
  at timestamp with time zone not null default clock_timestamp(),
  decision_id bigint,
  ended_by text not null,
  id bigint not null generated as identity,
  reason text not null,
  valid_until timestamp with time zone
);
table public.api_record (
  gone_at timestamp with time zone,
  hash text not null,
  listed_at timestamp with time zone,
  misses integer not null default 0,
  read_at timestamp with time zone not null,
  revision integer not null,
  service text not null default 'default'::text,
  service_id text not null
);
table public.api_token (
  created_at timestamp with time zone not null default clock_timestamp(),
  created_by text not null,
  id bigint not null generated as identity,
  last_used_at timestamp with time zone,
  name text not null,
  owners text[],
  revoked_at timestamp with time zone,
  scopes text[] not null,
  services text[],
  sha256 bytea not null
);
table public.asset (
  decimals smallint not null,
  key text not null,
  network text not null,
  symbol text not null
);
table public.balance_difference (
  address text not null,
  after_balance numeric(78,0) not null,
  after_height bigint not null,
  asset text not null,
  balance numeric(78,0) not null,
  change numeric(79,0) not null,
  found_at timestamp with time zone not null default now(),
  height bigint not null,
  id bigint not null generated as identity,
  network text not null,
  problem text,
  searched_at timestamp with time zone
);
table public.balance_point (
  address text not null,
  asset text not null,
  balance numeric(78,0) not null,
  checked_at timestamp with time zone not null,
  height bigint not null,
  network text not null,
  opening numeric(78,0) not null default 0,
  opening_height bigint not null,
  opening_is text not null default 'assumed'::text,
  reading numeric(78,0),
  reading_height bigint
);
table public.canary (
  is_on boolean not null default true,
  is_only boolean not null default true,
  since timestamp with time zone not null default now(),
  started_at timestamp with time zone,
  succeeded_at timestamp with time zone
);
table public.canary_webhook (
  received_at timestamp with time zone,
  sent_at timestamp with time zone not null default now(),
  token_sha256 bytea not null
);
table public.chain_coverage (
  assets text[] not null,
  heights int8multirange not null,
  network text not null,
  watched integer not null
);
table public.chain_gap_since (
  network text not null,
  since timestamp with time zone not null,
  watched_from integer not null
);
table public.chain_movement (
  address text not null,
  asset text not null,
  block_hash text not null,
  change numeric(78,0) not null,
  height bigint not null,
  index text not null,
  network text not null,
  outsiders text[],
  tx text not null
);
table public.chain_network (
  assets text[] not null,
  height bigint not null,
  network text not null
);
table public.chain_transfer (
  address text not null,
  amount numeric(78,0) not null,
  asset text not null,
  block_hash text not null,
  height bigint not null,
  inbox_id bigint not null,
  network text not null,
  role text not null,
  stage text not null,
  transfer text not null
);
table public.chain_watch (
  address text not null,
  enrolled_at timestamp with time zone not null default now(),
  from_height bigint not null,
  network text not null,
  number integer not null
);
table public.checkpoint (
  made_at timestamp with time zone not null default clock_timestamp(),
  note text not null,
  root bytea not null,
  signed_by text not null,
  size bigint not null
);
table public.cosignature (
  lines text not null,
  made_at timestamp with time zone not null default clock_timestamp(),
  size bigint not null,
  witness text not null
);
table public.credit_safety (
  account text not null,
  action text not null,
  amount numeric(78,0) not null,
  asset text not null,
  at timestamp with time zone not null default clock_timestamp(),
  block_hash text,
  deposit_id bigint not null,
  final_at timestamp with time zone,
  height bigint,
  id bigint not null generated as identity,
  journal_id bigint not null,
  number smallint not null,
  reason text not null
);
table public.decision (
  id bigint not null generated as identity,
  kind text not null,
  people smallint not null,
  requested_at timestamp with time zone not null default clock_timestamp(),
  text text not null,
  uuid uuid not null
);
table public.decision_event (
  action text not null,
  at timestamp with time zone not null default clock_timestamp(),
  decision_id bigint not null,
  id bigint not null generated as identity,
  person text not null,
  reason text,
  signature text
);
table public.deposit (
  address text,
  amount numeric(78,0),
  api_at timestamp with time zone,
  asset text,
  chain_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  deposited_at timestamp with time zone,
  fee_amount numeric(78,0),
  final_at timestamp with time zone,
  group_id bigint not null,
  id bigint not null generated as identity,
  matrix jsonb not null,
  merged_into bigint,
  network text,
  owner_id text,
  owner_kind text,
  reconciled_at timestamp with time zone,
  service text not null default 'default'::text,
  service_id text,
  settled_at timestamp with time zone,
  settlement_address text,
  settlement_amount numeric(78,0),
  settlement_asset text,
  settlement_network text,
  settlement_tx text,
  state text not null,
  steps_known smallint not null default 0,
  steps_reported smallint not null default 0,
  transfer text,
  tx text,
  unreported_since timestamp with time zone,
  updated_at timestamp with time zone not null default now(),
  webhook_at timestamp with time zone
);
table public.deposit_count (
  count bigint not null,
  network text not null,
  service text not null,
  state text not null
);
table public.deposit_hour (
  asset text not null,
  before_fee numeric not null,
  delivered numeric not null,
  deposits bigint not null,
  fee numeric not null,
  hour timestamp with time zone not null,
  is_sum boolean not null default false,
  matrix jsonb not null,
  paid numeric not null,
  service text not null,
  settled bigint not null,
  settlement_asset text not null,
  steps_known bigint not null,
  steps_reported bigint not null
);
table public.disposal (
  account text not null,
  acquired_at timestamp with time zone,
  acquired_by bigint,
  asset text not null,
  cost numeric(78,0) not null,
  line integer not null,
  proceeds numeric(78,0) not null,
  units numeric(78,0) not null,
  valued_id bigint not null
);
table public.event (
  at timestamp with time zone not null,
  data jsonb not null,
  deposit_id bigint,
  id uuid not null,
  owner_id text,
  owner_kind text,
  previous bigint,
  sequence bigint not null,
  service text,
  type text not null
);
table public.event_attempt (
  at timestamp with time zone not null,
  duration_ms integer not null,
  endpoint_id bigint not null,
  id bigint not null generated as identity,
  problem text,
  sequence bigint,
  status integer
);
table public.event_delivery (
  endpoint_id bigint not null,
  failing_since timestamp with time zone,
  id bigint not null generated as identity,
  lane bigint not null,
  next_at timestamp with time zone,
  sequence bigint not null,
  tries integer not null default 0
);
table public.event_endpoint (
  created_at timestamp with time zone not null default clock_timestamp(),
  created_by text not null,
  failing_since timestamp with time zone,
  failures integer not null default 0,
  id bigint not null generated as identity,
  name text not null,
  owners text[],
  paused_at timestamp with time zone,
  payload text not null,
  position bigint not null,
  reason text,
  removed_at timestamp with time zone,
  rest_until timestamp with time zone,
  revision integer not null default 0,
  services text[],
  state text not null default 'active'::text,
  types text[],
  url text not null
);
table public.event_endpoint_secret (
  endpoint_id bigint not null,
  expires_at timestamp with time zone,
  public_key text,
  scheme text not null,
  sealed bytea not null,
  version integer not null
);
table public.event_pending (
  at timestamp with time zone not null default now(),
  data jsonb not null,
  deposit_id bigint,
  event_id uuid not null default uuidv7(),
  id bigint not null generated as identity,
  service text,
  type text not null
);
table public.evidence (
  group_id bigint not null,
  inbox_id bigint not null,
  observation jsonb not null
);
table public.evidence_group (
  id bigint not null generated as identity,
  recheck_at timestamp with time zone
);
table public.idempotency_key (
  at timestamp with time zone not null default clock_timestamp(),
  event_id bigint not null,
  key text not null,
  sha256 bytea not null,
  token_id bigint not null
);
table public.inbox (
  body bytea not null,
  headers jsonb not null default '{}'::jsonb,
  id bigint not null generated as identity,
  received_at timestamp with time zone not null,
  service text not null default 'default'::text,
  source text not null,
  source_key text not null,
  stored_at timestamp with time zone not null default now()
);
table public.inbox_pending (
  inbox_id bigint not null,
  received_at timestamp with time zone not null,
  stored_at timestamp with time zone not null default now()
);
table public.invitation (
  challenge text not null,
  expires_at timestamp with time zone not null,
  passkey text,
  person text not null,
  roles text[] not null,
  token bytea not null
);
table public.ledger_account (
  asset text not null,
  created_at timestamp with time zone not null default now(),
  id text not null
);
table public.ledger_journal (
  deposit_id bigint,
  event_at timestamp with time zone not null,
  id bigint not null generated as identity,
  kind text not null,
  period date not null,
  posting_key text not null,
  recorded_at timestamp with time zone not null default clock_timestamp(),
  reverses bigint,
  transfer text
);
table public.ledger_last_cut (
  cut_at timestamp with time zone not null,
  is_only boolean not null default true,
  last_journal bigint not null
);
table public.ledger_period (
  period date not null,
  state text not null
);
table public.ledger_period_balance (
  account text not null,
  asset text not null,
  credit numeric not null,
  debit numeric not null,
  event_id bigint not null
);
table public.ledger_period_event (
  action text not null,
  actor text not null,
  approved_by text,
  at timestamp with time zone not null default clock_timestamp(),
  cut_at timestamp with time zone,
  decision_id bigint,
  forced boolean not null default false,
  id bigint not null generated as identity,
  last_journal bigint,
  period date not null,
  reason text,
  severe_open integer not null default 0,
  sha256 text
);
table public.ledger_snapshot (
  account text not null,
  asset text not null,
  credit numeric not null,
  debit numeric not null,
  event date not null,
  recorded date not null,
  span text not null
);
table public.ledger_snapshot_day (
  cut_at timestamp with time zone not null,
  made_at timestamp with time zone not null default clock_timestamp(),
  recorded date not null
);
table public.ledger_transfer (
  amount numeric(78,0) not null,
  asset text not null,
  credit text not null,
  debit text not null,
  event_at timestamp with time zone not null,
  journal_id bigint not null,
  leg integer not null,
  period date not null,
  recorded_at timestamp with time zone not null
);
table public.ledger_transfer_default (
  amount numeric(78,0) not null,
  asset text not null,
  credit text not null,
  debit text not null,
  event_at timestamp with time zone not null,
  journal_id bigint not null,
  leg integer not null,
  period date not null,
  recorded_at timestamp with time zone not null
);
table public.leg_search (
  address text not null,
  from_at timestamp with time zone not null,
  network text not null,
  next_at timestamp with time zone not null,
  role text not null,
  searched_at timestamp with time zone,
  service_id text not null,
  tries integer not null default 0,
  tx text
);
table public.link_key (
  group_id bigint not null,
  key text not null
);
table public.manual_journal (
  approved_by text,
  decision_id bigint,
  journal_id bigint not null,
  made_by text not null,
  reason text not null
);
table public.mismatch (
  asset text,
  assigned_to text,
  cleared_at timestamp with time zone,
  cleared_how text,
  deposit_id bigint,
  detail jsonb not null default '{}'::jsonb,
  group_id bigint,
  id bigint not null generated as identity,
  kind text not null,
  loss_amount numeric(78,0),
  loss_asset text,
  loss_whole numeric(78,0),
  network text,
  opened_at timestamp with time zone not null,
  resolved_at timestamp with time zone,
  resolved_by text,
  resolved_reason text,
  service text,
  severity text not null,
  snooze_ends_with text,
  snoozed_until timestamp with time zone,
  subject text not null,
  value numeric(78,0)
);
table public.mismatch_attachment (
  added_by text not null,
  at timestamp with time zone not null default now(),
  content bytea not null,
  id bigint not null generated as identity,
  mismatch_id bigint not null,
  name text not null,
  sha256 text not null
);
table public.mismatch_event (
  action text not null,
  actor text not null,
  after jsonb,
  approved_by text,
  at timestamp with time zone not null default now(),
  before jsonb,
  decision_id bigint,
  id bigint not null generated as identity,
  mentions text[],
  mismatch_id bigint not null,
  text text,
  undoes bigint
);
table public.named_transaction (
  address text not null,
  network text not null,
  next_at timestamp with time zone,
  role text not null,
  tries integer not null default 0,
  tx text not null
);
table public.notification (
  channel text not null,
  closed_at timestamp with time zone,
  figures jsonb,
  id bigint not null generated as identity,
  key text not null,
  kind text,
  message_at timestamp with time zone not null,
  network text,
  service text,
  since timestamp with time zone,
  until timestamp with time zone
);
table public.notification_message (
  channel text not null,
  content jsonb not null,
  id bigint not null generated as identity,
  key text not null,
  message_id uuid not null default uuidv7(),
  next_at timestamp with time zone not null,
  problem text,
  sent_at timestamp with time zone,
  tries smallint not null default 0,
  written_at timestamp with time zone not null
);
table public.opening_lot (
  account text not null,
  acquired_at timestamp with time zone not null,
  asset text not null,
  cost numeric(78,0) not null,
  currency text not null,
  id bigint not null generated as identity,
  journal_id bigint not null,
  recorded_at timestamp with time zone not null default clock_timestamp(),
  units numeric(78,0) not null
);
table public.owner (
  added_at timestamp with time zone not null default clock_timestamp(),
  added_by text not null,
  approved_by text,
  created_at timestamp with time zone not null default now(),
  decision_id bigint,
  forward_asset text,
  forward_network text,
  forward_recipient text,
  id text not null,
  kind text not null,
  number bigint not null generated as identity
);
table public.price (
  asset text not null,
  at timestamp with time zone not null,
  currency text not null,
  id bigint not null generated as identity,
  imported_at timestamp with time zone not null default clock_timestamp(),
  price numeric not null,
  source text not null
);
table public.proposal (
  ended_at timestamp with time zone,
  id bigint not null generated as identity,
  policy text not null,
  proposed_at timestamp with time zone not null default now(),
  reasons jsonb not null,
  role text not null,
  score smallint not null,
  service_id text not null,
  state text not null default 'proposed'::text,
  transfer text not null
);
table public.quarantine (
  body bytea not null,
  headers jsonb not null,
  id bigint not null generated as identity,
  reason text not null,
  received_at timestamp with time zone not null,
  service text not null default 'default'::text,
  size integer not null,
  source text not null
);
table public.rule_set (
  approved_by text,
  decision_id bigint,
  id bigint not null generated as identity,
  requested_by text,
  rules text not null,
  since timestamp with time zone not null default clock_timestamp()
);
table public.saved_view (
  name text not null,
  page text not null,
  query text not null,
  saved_at timestamp with time zone not null default now(),
  saved_by text not null
);
table public.seal (
  after_id bigint,
  first_leaf bigint not null,
  hashes bytea not null,
  ids bytea not null,
  last_id bigint not null,
  leaves integer not null,
  marks bytea not null,
  next_leaf bigint default (first_leaf + leaves),
  number bigint not null,
  preceding bigint default NULLIF((number - 1), 0),
  preceding_leaf bigint default NULLIF(first_leaf, 0),
  sealed_at timestamp with time zone not null default clock_timestamp(),
  sealed_table text not null
);
table public.seal_node (
  hash bytea not null,
  height smallint not null,
  place bigint not null
);
table public.session (
  challenge text not null,
  expires_at timestamp with time zone not null,
  person text,
  roles text[],
  token bytea not null
);
table public.stream (
  cursor jsonb,
  expires_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  fence bigint not null default 0,
  holder text,
  name text not null,
  progress jsonb not null default '{}'::jsonb,
  succeeded_at timestamp with time zone
);
table public.valuation_rule (
  currency text,
  id bigint not null generated as identity,
  max_age interval,
  method text not null default 'fifo'::text,
  own_accounts text[] not null default '{}'::text[],
  pool text not null default 'account'::text,
  since timestamp with time zone not null default clock_timestamp()
);
table public.value_lot (
  account text not null,
  acquired_at timestamp with time zone,
  asset text not null,
  cost numeric(78,0) not null,
  deposit_id bigint,
  origin bigint not null,
  units numeric(78,0) not null
);
table public.valued_journal (
  close_id bigint,
  currency text not null,
  event_at timestamp with time zone not null,
  id bigint not null generated as identity,
  journal_id bigint,
  kind text not null,
  period date not null,
  places smallint not null,
  rule_id bigint not null,
  valued_at timestamp with time zone not null default clock_timestamp()
);
table public.valued_line (
  account text not null,
  asset text,
  line integer not null,
  price numeric,
  price_at timestamp with time zone,
  price_source text,
  units numeric(78,0) not null,
  value numeric(78,0) not null,
  valued_id bigint not null
);
table public.wallet_balance (
  arriving numeric(78,0) not null,
  asset text not null,
  balance numeric(78,0) not null,
  books numeric(78,0) not null,
  differs_since timestamp with time zone,
  leaving numeric(78,0) not null,
  read_at timestamp with time zone not null,
  service text not null,
  wallet text not null
);
table public.webhook_conflict (
  first_id bigint not null,
  inbox_id bigint not null,
  sha256 text not null
);
table public.webhook_repeat (
  count bigint not null,
  first_at timestamp with time zone not null,
  inbox_id bigint not null,
  last_at timestamp with time zone not null,
  newest_at timestamp with time zone[] not null
);
table public.withdrawal (
  amount numeric(78,0) not null,
  asset text not null,
  group_id bigint not null,
  network text not null,
  occurred_at timestamp with time zone not null,
  recipient text not null,
  service text not null,
  state text not null,
  status text not null,
  transfer text,
  tx text,
  wallet text not null,
  withdrawal_id text not null
);

constraint access_event_action_check on access_event: CHECK ((action = ANY (ARRAY['invited'::text, 'passkey_made'::text, 'signed_in'::text, 'signed_out'::text, 'sessions_ended'::text, 'exported'::text, 'bundle_made'::text, 'dispute_made'::text, 'attachment_taken'::text, 'webhooks_retried'::text, 'webhooks_dropped'::text, 'token_created'::text, 'token_revoked'::text, 'endpoint_created'::text, 'endpoint_changed'::text, 'endpoint_removed'::text])));
constraint access_event_detail_check on access_event: CHECK ((detail <> ''::text));
constraint access_event_person on access_event: CHECK (((person IS NOT NULL) OR (action = ANY (ARRAY['exported'::text, 'bundle_made'::text, 'dispute_made'::text, 'webhooks_retried'::text, 'webhooks_dropped'::text]))));
constraint access_event_person_check on access_event: CHECK ((person <> ''::text));
constraint access_event_pkey on access_event: PRIMARY KEY (id);
constraint account_label_check on account_label: CHECK ((num_nonnulls(code, name) > 0));
constraint account_label_pkey on account_label: PRIMARY KEY (place);
constraint address_book_added_by_check on address_book: CHECK ((added_by <> ''::text));
constraint address_book_check on address_book: CHECK (((approved_by <> ''::text) AND (lower(approved_by) <> lower(added_by))));
constraint address_book_check1 on address_book: CHECK (((role = 'deposit'::text) = (owner_id IS NOT NULL)));
constraint address_book_decision_id_fkey on address_book: FOREIGN KEY (decision_id) REFERENCES decision(id);
constraint address_book_id_key on address_book: UNIQUE (id);
constraint address_book_owner_kind_owner_id_fkey on address_book: FOREIGN KEY (owner_kind, owner_id) REFERENCES owner(kind, id);
constraint address_book_pkey on address_book: PRIMARY KEY (network, address, role);
constraint address_book_role_check on address_book: CHECK ((role = ANY (ARRAY['deposit'::text, 'recipient'::text])));
constraint address_end_address_id_fkey on address_end: FOREIGN KEY (address_id) REFERENCES address_book(id);
constraint address_end_check on address_end: CHECK (((approved_by <> ''::text) AND (lower(approved_by) <> lower(ended_by))));
constraint address_end_decision_id_fkey on address_end: FOREIGN KEY (decision_id) REFERENCES decision(id);
constraint address_end_ended_by_check on address_end: CHECK ((ended_by <> ''::text));
constraint address_end_pkey on address_end: PRIMARY KEY (id);
constraint address_end_reason_check on address_end: CHECK ((reason <> ''::text));
constraint api_record_misses_check on api_record: CHECK ((misses >= 0));
constraint api_record_pkey on api_record: PRIMARY KEY (service_id);
constraint api_record_revision_check on api_record: CHECK ((revision >= 0));
constraint api_token_created_by_check on api_token: CHECK ((created_by <> ''::text));
constraint api_token_name_check on api_token: CHECK ((name <> ''::text));
constraint api_token_owners_check on api_token: CHECK ((cardinality(owners) > 0));
constraint api_token_pkey on api_token: PRIMARY KEY (id);
constraint api_token_scopes_check on api_token: CHECK (((cardinality(scopes) > 0) AND (scopes <@ ARRAY['read_deposits'::text, 'read_books'::text, 'write_cases'::text])));
constraint api_token_services_check on api_token: CHECK ((cardinality(services) > 0));
constraint api_token_sha256_check on api_token: CHECK ((length(sha256) = 32));
constraint api_token_sha256_key on api_token: UNIQUE (sha256);
constraint asset_decimals_check on asset: CHECK (((decimals >= 0) AND (decimals <= 38)));
constraint asset_pkey on asset: PRIMARY KEY (key);
constraint balance_difference_change_check on balance_difference: CHECK ((change <> (0)::numeric));
constraint balance_difference_check on balance_difference: CHECK ((height > after_height));
constraint balance_difference_network_address_asset_after_height_key on balance_difference: UNIQUE (network, address, asset, after_height);
constraint balance_difference_network_address_asset_fkey on balance_difference: FOREIGN KEY (network, address, asset) REFERENCES balance_point(network, address, asset) ON DELETE CASCADE;
constraint balance_difference_pkey on balance_difference: PRIMARY KEY (id);
constraint balance_point_after_opening on balance_point: CHECK ((height >= opening_height));
constraint balance_point_asset_fkey on balance_point: FOREIGN KEY (asset) REFERENCES asset(key);
constraint balance_point_balance_check on balance_point: CHECK ((balance >= (0)::numeric));
constraint balance_point_opening_check on balance_point: CHECK ((opening >= (0)::numeric));
constraint balance_point_opening_height_check on balance_point: CHECK ((opening_height >= '-1'::integer));
constraint balance_point_opening_is_check on balance_point: CHECK ((opening_is = ANY (ARRAY['assumed'::text, 'read'::text, 'left'::text])));
constraint balance_point_pkey on balance_point: PRIMARY KEY (network, address, asset);
constraint balance_point_reading_after_height on balance_point: CHECK ((reading_height >= height));
constraint balance_point_reading_check on balance_point: CHECK ((reading >= (0)::numeric));
constraint balance_point_reading_complete on balance_point: CHECK (((reading IS NULL) = (reading_height IS NULL)));
constraint canary_is_only_check on canary: CHECK (is_only);
constraint canary_pkey on canary: PRIMARY KEY (is_only);
constraint canary_webhook_pkey on canary_webhook: PRIMARY KEY (token_sha256);
constraint canary_webhook_token_sha256_check on canary_webhook: CHECK ((length(token_sha256) = 32));
constraint chain_coverage_pkey on chain_coverage: PRIMARY KEY (network, watched, assets);
constraint chain_coverage_watched_check on chain_coverage: CHECK ((watched > 0));
constraint chain_gap_since_pkey on chain_gap_since: PRIMARY KEY (network, watched_from);
constraint chain_movement_change_check on chain_movement: CHECK ((change <> (0)::numeric));
constraint chain_movement_height_check on chain_movement: CHECK ((height >= 0));
constraint chain_movement_pkey on chain_movement: PRIMARY KEY (network, tx, index, asset, address, block_hash);
constraint chain_network_height_check on chain_network: CHECK ((height >= 0));
constraint chain_network_pkey on chain_network: PRIMARY KEY (network);
constraint chain_transfer_amount_is_number on chain_transfer: CHECK ((amount < 'NaN'::numeric));
constraint chain_transfer_height_check on chain_transfer: CHECK ((height >= 0));
constraint chain_transfer_inbox_id_fkey on chain_transfer: FOREIGN KEY (inbox_id) REFERENCES inbox(id) NOT ENFORCED;
constraint chain_transfer_pkey on chain_transfer: PRIMARY KEY (inbox_id);
constraint chain_transfer_role_check on chain_transfer: CHECK ((role = ANY (ARRAY['deposit'::text, 'recipient'::text])));
constraint chain_transfer_stage_check on chain_transfer: CHECK ((stage = ANY (ARRAY['seen'::text, 'final'::text, 'orphaned'::text])));
constraint chain_watch_from_height_check on chain_watch: CHECK ((from_height >= 0));
constraint chain_watch_network_address_key on chain_watch: UNIQUE (network, address);
constraint chain_watch_number_check on chain_watch: CHECK ((number > 0));
constraint chain_watch_pkey on chain_watch: PRIMARY KEY (network, number);
constraint checkpoint_pkey on checkpoint: PRIMARY KEY (size, signed_by);
constraint checkpoint_root_check on checkpoint: CHECK ((length(root) = 32));
constraint checkpoint_size_check on checkpoint: CHECK ((size > 0));
constraint cosignature_pkey on cosignature: PRIMARY KEY (witness, size);
constraint credit_safety_action_check on credit_safety: CHECK ((action = ANY (ARRAY['safe'::text, 'withdrawn'::text])));
constraint credit_safety_amount_check on credit_safety: CHECK (((amount > (0)::numeric) AND (amount < 'NaN'::numeric)));
constraint credit_safety_deposit_id_fkey on credit_safety: FOREIGN KEY (deposit_id) REFERENCES deposit(id);
constraint credit_safety_deposit_id_number_key on credit_safety: UNIQUE (deposit_id, number);
constraint credit_safety_final on credit_safety: CHECK ((num_nulls(height, block_hash, final_at) =
CASE action
    WHEN 'safe'::text THEN 0
    ELSE 3
END));
constraint credit_safety_in_turn on credit_safety: CHECK (((action = 'safe'::text) = (((number)::integer % 2) = 1)));
constraint credit_safety_journal_id_fkey on credit_safety: FOREIGN KEY (journal_id) REFERENCES ledger_journal(id);
constraint credit_safety_number_check on credit_safety: CHECK ((number > 0));
constraint credit_safety_pkey on credit_safety: PRIMARY KEY (id);
constraint credit_safety_reason_check on credit_safety: CHECK ((reason <> ''::text));
constraint decision_event_action_check on decision_event: CHECK ((action = ANY (ARRAY['signed'::text, 'rejected'::text, 'outdated'::text])));
constraint decision_event_decision_id_action_person_key on decision_event: UNIQUE (decision_id, action, person);
constraint decision_event_decision_id_fkey on decision_event: FOREIGN KEY (decision_id) REFERENCES decision(id);
constraint decision_event_person_check on decision_event: CHECK (((person <> ''::text) AND (person !~* '^token:'::text)));
constraint decision_event_pkey on decision_event: PRIMARY KEY (id);
constraint decision_event_reason_check on decision_event: CHECK ((reason <> ''::text));
constraint decision_event_signature on decision_event: CHECK (((action = 'signed'::text) = (signature IS NOT NULL)));
constraint decision_people_check on decision: CHECK ((people = ANY (ARRAY[1, 2])));
constraint decision_pkey on decision: PRIMARY KEY (id);
constraint decision_uuid_key on decision: UNIQUE (uuid);
constraint deposit_group_id_fkey on deposit: FOREIGN KEY (group_id) REFERENCES evidence_group(id);
constraint deposit_identified on deposit: CHECK ((num_nonnulls(service_id, transfer, merged_into) > 0));
constraint deposit_is_number on deposit: CHECK (((amount < 'NaN'::numeric) AND (settlement_amount < 'NaN'::numeric) AND (fee_amount < 'NaN'::numeric)));
constraint deposit_merged_into_fkey on deposit: FOREIGN KEY (merged_into) REFERENCES deposit(id);
constraint deposit_pkey on deposit: PRIMARY KEY (id);
constraint deposit_service_id_key on deposit: UNIQUE (service_id);
constraint deposit_state_check on deposit: CHECK ((state = ANY (ARRAY['observed'::text, 'confirmed'::text, 'settling'::text, 'settled'::text, 'reconciled'::text, 'orphaned'::text, 'refunded'::text, 'held'::text, 'failed'::text, 'ignored'::text])));
constraint deposit_transfer_key on deposit: UNIQUE (transfer) DEFERRABLE;
constraint disposal_acquired_by_fkey on disposal: FOREIGN KEY (acquired_by) REFERENCES ledger_journal(id);
constraint disposal_asset_fkey on disposal: FOREIGN KEY (asset) REFERENCES asset(key);
constraint disposal_line_check on disposal: CHECK ((line > 0));
constraint disposal_pkey on disposal: PRIMARY KEY (valued_id, line);
constraint disposal_valued_id_fkey on disposal: FOREIGN KEY (valued_id) REFERENCES valued_journal(id);
constraint event_attempt_duration_ms_check on event_attempt: CHECK ((duration_ms >= 0));
constraint event_attempt_endpoint_id_fkey on event_attempt: FOREIGN KEY (endpoint_id) REFERENCES event_endpoint(id);
constraint event_attempt_pkey on event_attempt: PRIMARY KEY (id);
constraint event_attempt_problem on event_attempt: CHECK (((status IS NULL) = (problem IS NOT NULL)));
constraint event_check on event: CHECK ((previous < sequence));
constraint event_delivery_endpoint_id_fkey on event_delivery: FOREIGN KEY (endpoint_id) REFERENCES event_endpoint(id);
constraint event_delivery_endpoint_id_lane_sequence_key on event_delivery: UNIQUE (endpoint_id, lane, sequence);
constraint event_delivery_pkey on event_delivery: PRIMARY KEY (id);
constraint event_delivery_sequence_fkey on event_delivery: FOREIGN KEY (sequence) REFERENCES event(sequence);
constraint event_deposit_id_sequence_key on event: UNIQUE (deposit_id, sequence);
constraint event_endpoint_created_by_check on event_endpoint: CHECK ((created_by <> ''::text));
constraint event_endpoint_failing on event_endpoint: CHECK (((failures = 0) = (failing_since IS NULL)));
constraint event_endpoint_name_check on event_endpoint: CHECK ((name <> ''::text));
constraint event_endpoint_owners_check on event_endpoint: CHECK ((cardinality(owners) > 0));
constraint event_endpoint_paused on event_endpoint: CHECK (((state = 'paused'::text) = (paused_at IS NOT NULL)));
constraint event_endpoint_payload_check on event_endpoint: CHECK ((payload = ANY (ARRAY['thin'::text, 'full'::text])));
constraint event_endpoint_pkey on event_endpoint: PRIMARY KEY (id);
constraint event_endpoint_position_check on event_endpoint: CHECK (("position" >= 0));
constraint event_endpoint_reason on event_endpoint: CHECK (((state = 'paused'::text) = (reason IS NOT NULL)));
constraint event_endpoint_reason_check on event_endpoint: CHECK ((reason = ANY (ARRAY['requested'::text, 'undelivered'::text, 'gone'::text])));
constraint event_endpoint_secret_endpoint_id_fkey on event_endpoint_secret: FOREIGN KEY (endpoint_id) REFERENCES event_endpoint(id);
constraint event_endpoint_secret_pkey on event_endpoint_secret: PRIMARY KEY (endpoint_id, version);
constraint event_endpoint_secret_public on event_endpoint_secret: CHECK (((scheme = 'v1a'::text) = (public_key IS NOT NULL)));
constraint event_endpoint_secret_public_key_check on event_endpoint_secret: CHECK ((public_key ~~ 'whpk\_%'::text));
constraint event_endpoint_secret_scheme_check on event_endpoint_secret: CHECK ((scheme = ANY (ARRAY['v1'::text, 'v1a'::text])));
constraint event_endpoint_secret_version_check on event_endpoint_secret: CHECK ((version > 0));
constraint event_endpoint_services_check on event_endpoint: CHECK ((cardinality(services) > 0));
constraint event_endpoint_state_check on event_endpoint: CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text])));
constraint event_endpoint_types_check on event_endpoint: CHECK ((cardinality(types) > 0));
constraint event_endpoint_url_check on event_endpoint: CHECK ((url ~ '^https?://'::text));
constraint event_id_key on event: UNIQUE (id);
constraint event_pending_pkey on event_pending: PRIMARY KEY (id);
constraint event_pending_type_check on event_pending: CHECK ((type = ANY (ARRAY['deposit.observed'::text, 'deposit.final'::text, 'deposit.settled'::text, 'deposit.reconciled'::text, 'deposit.credit_safe'::text, 'deposit.reversed'::text, 'deposit.merged'::text, 'mismatch.opened'::text, 'mismatch.changed'::text, 'mismatch.cleared'::text, 'mismatch.resolved'::text, 'approval.requested'::text, 'period.closed'::text, 'seal.published'::text])));
constraint event_pkey on event: PRIMARY KEY (sequence);
constraint event_sequence_check on event: CHECK ((sequence > 0));
constraint evidence_group_id_fkey on evidence: FOREIGN KEY (group_id) REFERENCES evidence_group(id);
constraint evidence_group_pkey on evidence_group: PRIMARY KEY (id);
constraint evidence_inbox_id_fkey on evidence: FOREIGN KEY (inbox_id) REFERENCES inbox(id) NOT ENFORCED;
constraint evidence_pkey on evidence: PRIMARY KEY (inbox_id);
constraint idempotency_key_event_id_fkey on idempotency_key: FOREIGN KEY (event_id) REFERENCES mismatch_event(id);
constraint idempotency_key_key_check on idempotency_key: CHECK ((key ~ '^[!-~]{1,200}$'::text));
constraint idempotency_key_pkey on idempotency_key: PRIMARY KEY (token_id, key);
constraint idempotency_key_sha256_check on idempotency_key: CHECK ((length(sha256) = 32));
constraint idempotency_key_token_id_fkey on idempotency_key: FOREIGN KEY (token_id) REFERENCES api_token(id);
constraint inbox_decided on inbox: TRIGGER;
constraint inbox_pending_inbox_id_fkey on inbox_pending: FOREIGN KEY (inbox_id) REFERENCES inbox(id) NOT ENFORCED;
constraint inbox_pending_pkey on inbox_pending: PRIMARY KEY (inbox_id);
constraint inbox_pkey on inbox: PRIMARY KEY (id);
constraint inbox_source_check on inbox: CHECK ((source = ANY (ARRAY['webhook'::text, 'api'::text, 'chain'::text, 'person'::text])));
constraint inbox_source_key_check on inbox: CHECK ((source_key <> ''::text));
constraint inbox_source_source_key_key on inbox: UNIQUE (source, source_key);
constraint invitation_person_check on invitation: CHECK ((person <> ''::text));
constraint invitation_pkey on invitation: PRIMARY KEY (token);
constraint ledger_account_asset_fkey on ledger_account: FOREIGN KEY (asset) REFERENCES asset(key);
constraint ledger_account_id_check on ledger_account: CHECK ((id ~ '^(assets|liabilities|equity|expenses|income|trading):'::text));
constraint ledger_account_pkey on ledger_account: PRIMARY KEY (id, asset);
constraint ledger_journal_about_check on ledger_journal: CHECK (
CASE kind
    WHEN 'manual'::text THEN true
    WHEN 'opening'::text THEN (num_nonnulls(deposit_id, transfer) = 0)
    WHEN 'reversal'::text THEN true
    WHEN 'withdrawal'::text THEN (transfer IS NOT NULL)
    ELSE (num_nulls(deposit_id, transfer) = 0)
END);
constraint ledger_journal_by_hand on ledger_journal: TRIGGER DEFERRABLE INITIALLY DEFERRED;
constraint ledger_journal_deposit_id_fkey on ledger_journal: FOREIGN KEY (deposit_id) REFERENCES deposit(id);
constraint ledger_journal_event_at_check on ledger_journal: CHECK ((isfinite(event_at) AND ((kind <> ALL (ARRAY['manual'::text, 'opening'::text])) OR ((event_at >= '2009-01-01 00:00:00+00'::timestamp with time zone) AND (event_at < '10000-01-01 00:00:00+00'::timestamp with time zone)))));
constraint ledger_journal_kind_check on ledger_journal: CHECK ((kind = ANY (ARRAY['deposit'::text, 'settlement'::text, 'conversion'::text, 'shortage'::text, 'refund'::text, 'write_off'::text, 'withdrawal'::text, 'manual'::text, 'opening'::text, 'reversal'::text])));
constraint ledger_journal_manual_check on ledger_journal: CHECK (((kind <> 'manual'::text) OR (transfer IS NULL)));
constraint ledger_journal_period_check on ledger_journal: CHECK (((period = date_trunc('month'::text, (period)::timestamp without time zone)) AND (period >= ledger_month(event_at))));
constraint ledger_journal_pkey on ledger_journal: PRIMARY KEY (id);
constraint ledger_journal_posting_key_key on ledger_journal: UNIQUE (posting_key);
constraint ledger_journal_reversal on ledger_journal: TRIGGER DEFERRABLE INITIALLY DEFERRED;
constraint ledger_journal_reverses_check on ledger_journal: CHECK (((kind = 'reversal'::text) = (reverses IS NOT NULL)));
constraint ledger_journal_reverses_fkey on ledger_journal: FOREIGN KEY (reverses) REFERENCES ledger_journal(id);
constraint ledger_journal_write_off on ledger_journal: TRIGGER DEFERRABLE INITIALLY DEFERRED;
constraint ledger_last_cut_is_only_check on ledger_last_cut: CHECK (is_only);
constraint ledger_last_cut_pkey on ledger_last_cut: PRIMARY KEY (is_only);
constraint ledger_period_balance_account_asset_fkey on ledger_period_balance: FOREIGN KEY (account, asset) REFERENCES ledger_account(id, asset);
constraint ledger_period_balance_credit_check on ledger_period_balance: CHECK (((credit >= (0)::numeric) AND (scale(credit) = 0)));
constraint ledger_period_balance_debit_check on ledger_period_balance: CHECK (((debit >= (0)::numeric) AND (scale(debit) = 0)));
constraint ledger_period_balance_event_id_fkey on ledger_period_balance: FOREIGN KEY (event_id) REFERENCES ledger_period_event(id);
constraint ledger_period_balance_is_number on ledger_period_balance: CHECK (((debit < 'Infinity'::numeric) AND (credit < 'Infinity'::numeric)));
constraint ledger_period_balance_pkey on ledger_period_balance: PRIMARY KEY (event_id, account, asset);
constraint ledger_period_event_action_check on ledger_period_event: CHECK ((action = ANY (ARRAY['soft_closed'::text, 'closed'::text, 'reopened'::text])));
constraint ledger_period_event_actor_check on ledger_period_event: CHECK ((actor <> ''::text));
constraint ledger_period_event_approved_by_check on ledger_period_event: CHECK ((approved_by <> ''::text));
constraint ledger_period_event_decision_id_fkey on ledger_period_event: FOREIGN KEY (decision_id) REFERENCES decision(id);
constraint ledger_period_event_decision_id_key on ledger_period_event: UNIQUE (decision_id);
constraint ledger_period_event_forced_close on ledger_period_event: CHECK (((NOT forced) OR (action = 'closed'::text)));
constraint ledger_period_event_frozen on ledger_period_event: CHECK (((action = 'closed'::text) = (sha256 IS NOT NULL)));
constraint ledger_period_event_period_check on ledger_period_event: CHECK ((period = date_trunc('month'::text, (period)::timestamp without time zone)));
constraint ledger_period_event_pkey on ledger_period_event: PRIMARY KEY (id);
constraint ledger_period_event_reason_check on ledger_period_event: CHECK ((reason <> ''::text));
constraint ledger_period_event_reason_given on ledger_period_event: CHECK (((num_nulls(reason, approved_by) = 0) OR (NOT (forced OR (action = 'reopened'::text)))));
constraint ledger_period_event_second_person on ledger_period_event: CHECK ((lower(approved_by) <> lower(actor)));
constraint ledger_period_event_severe_forced on ledger_period_event: CHECK (((severe_open = 0) OR forced OR (action <> 'closed'::text)));
constraint ledger_period_event_sha256_check on ledger_period_event: CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text));
constraint ledger_period_period_check on ledger_period: CHECK ((period = date_trunc('month'::text, (period)::timestamp without time zone)));
constraint ledger_period_pkey on ledger_period: PRIMARY KEY (period);
constraint ledger_period_state_check on ledger_period: CHECK ((state = ANY (ARRAY['open'::text, 'soft_closed'::text, 'closed'::text])));
constraint ledger_snapshot_credit_check on ledger_snapshot: CHECK ((credit >= (0)::numeric));
constraint ledger_snapshot_day_pkey on ledger_snapshot_day: PRIMARY KEY (recorded);
constraint ledger_snapshot_debit_check on ledger_snapshot: CHECK ((debit >= (0)::numeric));
constraint ledger_snapshot_is_number on ledger_snapshot: CHECK (((debit < 'Infinity'::numeric) AND (credit < 'Infinity'::numeric)));
constraint ledger_snapshot_pkey on ledger_snapshot: PRIMARY KEY (span, recorded, event, account, asset);
constraint ledger_snapshot_span_check on ledger_snapshot: CHECK ((span = ANY (ARRAY['day'::text, 'month'::text])));
constraint ledger_transfer_amount_check on ledger_transfer: CHECK ((amount > (0)::numeric));
constraint ledger_transfer_amount_check on ledger_transfer_default: CHECK ((amount > (0)::numeric));
constraint ledger_transfer_amount_is_number on ledger_transfer: CHECK ((amount < 'NaN'::numeric));
constraint ledger_transfer_amount_is_number on ledger_transfer_default: CHECK ((amount < 'NaN'::numeric));
constraint ledger_transfer_check on ledger_transfer: CHECK ((credit <> debit));
constraint ledger_transfer_check on ledger_transfer_default: CHECK ((credit <> debit));
constraint ledger_transfer_credit_asset_fkey on ledger_transfer: FOREIGN KEY (credit, asset) REFERENCES ledger_account(id, asset) NOT ENFORCED;
constraint ledger_transfer_credit_asset_fkey on ledger_transfer_default: FOREIGN KEY (credit, asset) REFERENCES ledger_account(id, asset) NOT ENFORCED;
constraint ledger_transfer_debit_asset_fkey on ledger_transfer: FOREIGN KEY (debit, asset) REFERENCES ledger_account(id, asset) NOT ENFORCED;
constraint ledger_transfer_debit_asset_fkey on ledger_transfer_default: FOREIGN KEY (debit, asset) REFERENCES ledger_account(id, asset) NOT ENFORCED;
constraint ledger_transfer_default_pkey on ledger_transfer_default: PRIMARY KEY (journal_id, leg, recorded_at);
constraint ledger_transfer_journal_id_fkey on ledger_transfer: FOREIGN KEY (journal_id) REFERENCES ledger_journal(id) NOT ENFORCED;
constraint ledger_transfer_journal_id_fkey on ledger_transfer_default: FOREIGN KEY (journal_id) REFERENCES ledger_journal(id) NOT ENFORCED;
constraint ledger_transfer_leg_check on ledger_transfer: CHECK ((leg > 0));
constraint ledger_transfer_leg_check on ledger_transfer_default: CHECK ((leg > 0));
constraint ledger_transfer_pkey on ledger_transfer: PRIMARY KEY (journal_id, leg, recorded_at);
constraint leg_search_role_check on leg_search: CHECK ((role = ANY (ARRAY['deposit'::text, 'recipient'::text])));
constraint leg_search_service_id_role_network_address_tx_key on leg_search: UNIQUE NULLS NOT DISTINCT (service_id, role, network, address, tx);
constraint leg_search_tries_check on leg_search: CHECK ((tries >= 0));
constraint link_key_group_id_fkey on link_key: FOREIGN KEY (group_id) REFERENCES evidence_group(id);
constraint link_key_pkey on link_key: PRIMARY KEY (key);
constraint manual_journal_check on manual_journal: CHECK ((((length(approved_by) >= 1) AND (length(approved_by) <= 100)) AND (lower(approved_by) <> lower(made_by))));
constraint manual_journal_decision_id_fkey on manual_journal: FOREIGN KEY (decision_id) REFERENCES decision(id);
constraint manual_journal_journal_id_fkey on manual_journal: FOREIGN KEY (journal_id) REFERENCES ledger_journal(id);
constraint manual_journal_made_by_check on manual_journal: CHECK (((length(made_by) >= 1) AND (length(made_by) <= 100)));
constraint manual_journal_pkey on manual_journal: PRIMARY KEY (journal_id);
constraint manual_journal_reason_check on manual_journal: CHECK (((length(reason) >= 1) AND (length(reason) <= 1000)));
constraint mismatch_assigned_to_check on mismatch: CHECK ((assigned_to <> ''::text));
constraint mismatch_attachment_added_by_check on mismatch_attachment: CHECK ((added_by <> ''::text));
constraint mismatch_attachment_check on mismatch_attachment: CHECK ((sha256 = encode(sha256(content), 'hex'::text)));
constraint mismatch_attachment_content_check on mismatch_attachment: CHECK (((octet_length(content) >= 1) AND (octet_length(content) <= ((5 * 1024) * 1024))));
constraint mismatch_attachment_mismatch_id_fkey on mismatch_attachment: FOREIGN KEY (mismatch_id) REFERENCES mismatch(id);
constraint mismatch_attachment_name_check on mismatch_attachment: CHECK (((length(name) >= 1) AND (length(name) <= 200)));
constraint mismatch_attachment_pkey on mismatch_attachment: PRIMARY KEY (id);
constraint mismatch_cleared_check on mismatch: CHECK (((cleared_at IS NULL) = (cleared_how IS NULL)));
constraint mismatch_cleared_how_check on mismatch: CHECK ((cleared_how = ANY (ARRAY['evidence'::text, 'person'::text])));
constraint mismatch_deposit_id_fkey on mismatch: FOREIGN KEY (deposit_id) REFERENCES deposit(id);
constraint mismatch_event_action_check on mismatch_event: CHECK ((action = ANY (ARRAY['assigned'::text, 'commented'::text, 'snoozed'::text, 'resolved'::text, 'reopened'::text, 'comment_withdrawn'::text, 'attached'::text, 'written_off'::text, 'write_off_withdrawn'::text, 'matched'::text, 'split'::text])));
constraint mismatch_event_actor_check on mismatch_event: CHECK ((actor <> ''::text));
constraint mismatch_event_decision_id_fkey on mismatch_event: FOREIGN KEY (decision_id) REFERENCES decision(id);
constraint mismatch_event_mentions_check on mismatch_event: CHECK ((mentions <> '{}'::text[]));
constraint mismatch_event_mismatch_id_fkey on mismatch_event: FOREIGN KEY (mismatch_id) REFERENCES mismatch(id);
constraint mismatch_event_pkey on mismatch_event: PRIMARY KEY (id);
constraint mismatch_event_second_person on mismatch_event: CHECK (((lower(approved_by) <> lower(actor)) AND (approved_by !~* '^token:'::text)));
constraint mismatch_event_text_check on mismatch_event: CHECK ((text <> ''::text));
constraint mismatch_event_text_given on mismatch_event: CHECK (((action = ANY (ARRAY['assigned'::text, 'snoozed'::text])) OR (undoes IS NOT NULL) OR (text IS NOT NULL)));
constraint mismatch_event_undoes_fkey on mismatch_event: FOREIGN KEY (undoes) REFERENCES mismatch_event(id);
constraint mismatch_event_undoes_key on mismatch_event: UNIQUE (undoes);
constraint mismatch_group_id_fkey on mismatch: FOREIGN KEY (group_id) REFERENCES evidence_group(id);
constraint mismatch_loss_amount_check on mismatch: CHECK ((loss_amount > (0)::numeric));
constraint mismatch_loss_check on mismatch: CHECK ((num_nulls(loss_asset, loss_amount, loss_whole) = ANY (ARRAY[0, 3])));
constraint mismatch_loss_within_whole on mismatch: CHECK ((loss_whole >= loss_amount));
constraint mismatch_pkey on mismatch: PRIMARY KEY (id);
constraint mismatch_resolved_by_check on mismatch: CHECK ((resolved_by <> ''::text));
constraint mismatch_resolved_check on mismatch: CHECK ((num_nulls(resolved_at, resolved_by, resolved_reason) = ANY (ARRAY[0, 3])));
constraint mismatch_resolved_reason_check on mismatch: CHECK ((resolved_reason <> ''::text));
constraint mismatch_severity_check on mismatch: CHECK ((severity = ANY (ARRAY['info'::text, 'warning'::text, 'severe'::text])));
constraint mismatch_snooze_check on mismatch: CHECK ((num_nonnulls(snoozed_until, snooze_ends_with) <= 1));
constraint mismatch_snooze_ends_with_check on mismatch: CHECK ((snooze_ends_with = ANY (ARRAY['new evidence'::text, 'a larger loss'::text])));
constraint named_transaction_pkey on named_transaction: PRIMARY KEY (network, tx, role, address);
constraint named_transaction_role_check on named_transaction: CHECK ((role = ANY (ARRAY['deposit'::text, 'recipient'::text])));
constraint named_transaction_tries_check on named_transaction: CHECK ((tries >= 0));
constraint notification_channel_check on notification: CHECK ((channel <> ''::text));
constraint notification_channel_key_key on notification: UNIQUE (channel, key);
constraint notification_check on notification: CHECK ((((kind IS NULL) = (since IS NULL)) AND ((kind IS NULL) = (until IS NULL)) AND ((kind IS NULL) = (figures IS NULL))));
constraint notification_key_check on notification: CHECK ((key <> ''::text));
constraint notification_message_message_id_key on notification_message: UNIQUE (message_id);
constraint notification_message_pkey on notification_message: PRIMARY KEY (id);
constraint notification_pkey on notification: PRIMARY KEY (id);
constraint opening_lot_asset_fkey on opening_lot: FOREIGN KEY (asset) REFERENCES asset(key);
constraint opening_lot_cost_check on opening_lot: CHECK ((cost >= (0)::numeric));
constraint opening_lot_currency_check on opening_lot: CHECK ((currency ~ '^[A-Z]{3}$'::text));
constraint opening_lot_is_number on opening_lot: CHECK (((units < 'NaN'::numeric) AND (cost < 'NaN'::numeric)));
constraint opening_lot_journal_id_account_asset_acquired_at_key on opening_lot: UNIQUE (journal_id, account, asset, acquired_at);
constraint opening_lot_journal_id_fkey on opening_lot: FOREIGN KEY (journal_id) REFERENCES ledger_journal(id);
constraint opening_lot_pkey on opening_lot: PRIMARY KEY (id);
constraint opening_lot_units_check on opening_lot: CHECK ((units > (0)::numeric));
constraint owner_added_by_check on owner: CHECK ((added_by <> ''::text));
constraint owner_check on owner: CHECK (((approved_by <> ''::text) AND (lower(approved_by) <> lower(added_by))));
constraint owner_decision_id_fkey on owner: FOREIGN KEY (decision_id) REFERENCES decision(id);
constraint owner_forward_network on owner: CHECK (((kind = 'channel'::text) = (forward_network IS NOT NULL)));
constraint owner_forward_recipient on owner: CHECK (((kind = 'channel'::text) = (forward_recipient IS NOT NULL)));
constraint owner_id_check on owner: CHECK ((id <> ''::text));
constraint owner_kind_check on owner: CHECK ((kind = ANY (ARRAY['channel'::text, 'stable_wallet'::text])));
constraint owner_number_key on owner: UNIQUE (number);
constraint owner_pkey on owner: PRIMARY KEY (kind, id);
constraint price_asset_currency_at_source_key on price: UNIQUE (asset, currency, at, source);
constraint price_asset_fkey on price: FOREIGN KEY (asset) REFERENCES asset(key);
constraint price_currency_check on price: CHECK ((currency ~ '^[A-Z]{3}$'::text));
constraint price_pkey on price: PRIMARY KEY (id);
constraint price_price_check on price: CHECK (((price > (0)::numeric) AND (price < 'Infinity'::numeric)));
constraint price_source_check on price: CHECK ((source <> ''::text));
constraint proposal_check on proposal: CHECK (((state = 'proposed'::text) = (ended_at IS NULL)));
constraint proposal_pkey on proposal: PRIMARY KEY (id);
constraint proposal_role_check on proposal: CHECK ((role = ANY (ARRAY['deposit'::text, 'recipient'::text])));
constraint proposal_score_check on proposal: CHECK (((score >= 1) AND (score <= 100)));
constraint proposal_service_id_role_transfer_key on proposal: UNIQUE (service_id, role, transfer);
constraint proposal_state_check on proposal: CHECK ((state = ANY (ARRAY['proposed'::text, 'accepted'::text, 'rejected'::text, 'withdrawn'::text])));
constraint quarantine_pkey on quarantine: PRIMARY KEY (id);
constraint quarantine_size_check on quarantine: CHECK ((size > 0));
constraint rule_set_approved_by_check on rule_set: CHECK ((approved_by <> ''::text));
constraint rule_set_check on rule_set: CHECK (((requested_by IS NOT NULL) OR (num_nonnulls(approved_by, decision_id) = 0)));
constraint rule_set_decision_id_fkey on rule_set: FOREIGN KEY (decision_id) REFERENCES decision(id);
constraint rule_set_pkey on rule_set: PRIMARY KEY (id);
constraint rule_set_requested_by_check on rule_set: CHECK ((requested_by <> ''::text));
constraint rule_set_rules_check on rule_set: CHECK ((rules IS JSON OBJECT));
constraint saved_view_name_check on saved_view: CHECK (((name = btrim(name)) AND ((length(name) >= 1) AND (length(name) <= 60))));
constraint saved_view_page_check on saved_view: CHECK ((page = ANY (ARRAY['mismatches'::text, 'deposits'::text])));
constraint saved_view_pkey on saved_view: PRIMARY KEY (page, name);
constraint saved_view_query_check on saved_view: CHECK ((length(query) <= 2000));
constraint saved_view_saved_by_check on saved_view: CHECK ((saved_by <> ''::text));
constraint seal_first on seal: CHECK (((number = 1) = (first_leaf = 0)));
constraint seal_first_leaf_key on seal: UNIQUE (first_leaf);
constraint seal_hash_per_leaf on seal: CHECK ((length(hashes) = (leaves * 32)));
constraint seal_id_per_leaf on seal: CHECK ((length(ids) = (leaves * 8)));
constraint seal_leaves_check on seal: CHECK ((leaves > 0));
constraint seal_node_hash_check on seal_node: CHECK ((length(hash) = 32));
constraint seal_node_height_check on seal_node: CHECK (((height > 0) AND (((height)::integer % 8) = 0)));
constraint seal_node_pkey on seal_node: PRIMARY KEY (height, place);
constraint seal_node_place_check on seal_node: CHECK ((place >= 0));
constraint seal_number_check on seal: CHECK ((number > 0));
constraint seal_number_next_leaf_key on seal: UNIQUE (number, next_leaf);
constraint seal_pkey on seal: PRIMARY KEY (number);
constraint seal_preceding_preceding_leaf_fkey on seal: FOREIGN KEY (preceding, preceding_leaf) REFERENCES seal(number, next_leaf);
constraint seal_range on seal: CHECK ((last_id > after_id));
constraint seal_sealed_table_after_id_fkey on seal: FOREIGN KEY (sealed_table, after_id) REFERENCES seal(sealed_table, last_id);
constraint seal_sealed_table_after_id_key on seal: UNIQUE NULLS NOT DISTINCT (sealed_table, after_id);
constraint seal_sealed_table_last_id_key on seal: UNIQUE (sealed_table, last_id);
constraint session_person_check on session: CHECK ((person <> ''::text));
constraint session_pkey on session: PRIMARY KEY (token);
constraint stream_pkey on stream: PRIMARY KEY (name);
constraint valuation_rule_check on valuation_rule: CHECK (((currency IS NULL) = (max_age IS NULL)));
constraint valuation_rule_currency_check on valuation_rule: CHECK ((currency ~ '^[A-Z]{3}$'::text));
constraint valuation_rule_max_age_check on valuation_rule: CHECK ((max_age > '00:00:00'::interval));
constraint valuation_rule_method_check on valuation_rule: CHECK ((method = ANY (ARRAY['fifo'::text, 'average'::text])));
constraint valuation_rule_pkey on valuation_rule: PRIMARY KEY (id);
constraint valuation_rule_pool_check on valuation_rule: CHECK ((pool = ANY (ARRAY['account'::text, 'asset'::text])));
constraint value_lot_account_asset_deposit_id_origin_acquired_at_key on value_lot: UNIQUE NULLS NOT DISTINCT (account, asset, deposit_id, origin, acquired_at);
constraint value_lot_asset_fkey on value_lot: FOREIGN KEY (asset) REFERENCES asset(key);
constraint value_lot_deposit_id_fkey on value_lot: FOREIGN KEY (deposit_id) REFERENCES deposit(id);
constraint value_lot_same_side on value_lot: CHECK (((cost * units) >= (0)::numeric));
constraint value_lot_units_check on value_lot: CHECK ((units <> (0)::numeric));
constraint valued_journal_check on valued_journal: CHECK (
CASE kind
    WHEN 'journal'::text THEN ((num_nulls(journal_id) = 0) AND (close_id IS NULL))
    ELSE ((num_nulls(close_id) = 0) AND (journal_id IS NULL))
END);
constraint valued_journal_close_id_fkey on valued_journal: FOREIGN KEY (close_id) REFERENCES ledger_period_event(id);
constraint valued_journal_close_id_kind_key on valued_journal: UNIQUE (close_id, kind);
constraint valued_journal_currency_check on valued_journal: CHECK ((currency ~ '^[A-Z]{3}$'::text));
constraint valued_journal_journal_id_fkey on valued_journal: FOREIGN KEY (journal_id) REFERENCES ledger_journal(id);
constraint valued_journal_journal_id_key on valued_journal: UNIQUE (journal_id);
constraint valued_journal_kind_check on valued_journal: CHECK ((kind = ANY (ARRAY['journal'::text, 'revaluation'::text, 'revaluation_back'::text])));
constraint valued_journal_period_check on valued_journal: CHECK ((period = date_trunc('month'::text, (period)::timestamp without time zone)));
constraint valued_journal_pkey on valued_journal: PRIMARY KEY (id);
constraint valued_journal_places_check on valued_journal: CHECK (((places >= 0) AND (places <= 4)));
constraint valued_journal_rule_id_fkey on valued_journal: FOREIGN KEY (rule_id) REFERENCES valuation_rule(id);
constraint valued_line_asset_fkey on valued_line: FOREIGN KEY (asset) REFERENCES asset(key);
constraint valued_line_is_number on valued_line: CHECK (((units < 'NaN'::numeric) AND (value < 'NaN'::numeric)));
constraint valued_line_line_check on valued_line: CHECK ((line > 0));
constraint valued_line_pkey on valued_line: PRIMARY KEY (valued_id, line);
constraint valued_line_price on valued_line: CHECK ((num_nulls(price, price_at, price_source) = ANY (ARRAY[0, 3])));
constraint valued_line_valued_id_fkey on valued_line: FOREIGN KEY (valued_id) REFERENCES valued_journal(id);
constraint wallet_balance_arriving_check on wallet_balance: CHECK ((arriving < 'NaN'::numeric));
constraint wallet_balance_balance_check on wallet_balance: CHECK ((balance < 'NaN'::numeric));
constraint wallet_balance_books_check on wallet_balance: CHECK ((books < 'NaN'::numeric));
constraint wallet_balance_leaving_check on wallet_balance: CHECK ((leaving < 'NaN'::numeric));
constraint wallet_balance_pkey on wallet_balance: PRIMARY KEY (wallet);
constraint webhook_conflict_check on webhook_conflict: CHECK ((inbox_id <> first_id));
constraint webhook_conflict_first_id_fkey on webhook_conflict: FOREIGN KEY (first_id) REFERENCES inbox(id);
constraint webhook_conflict_inbox_id_fkey on webhook_conflict: FOREIGN KEY (inbox_id) REFERENCES inbox(id);
constraint webhook_conflict_inbox_id_key on webhook_conflict: UNIQUE (inbox_id);
constraint webhook_conflict_pkey on webhook_conflict: PRIMARY KEY (first_id, sha256);
constraint webhook_conflict_sha256_check on webhook_conflict: CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text));
constraint webhook_repeat_count_check on webhook_repeat: CHECK ((count > 0));
constraint webhook_repeat_inbox_id_fkey on webhook_repeat: FOREIGN KEY (inbox_id) REFERENCES inbox(id);
constraint webhook_repeat_newest_at_check on webhook_repeat: CHECK (((cardinality(newest_at) >= 1) AND (cardinality(newest_at) <= 32)));
constraint webhook_repeat_pkey on webhook_repeat: PRIMARY KEY (inbox_id);
constraint withdrawal_amount_check on withdrawal: CHECK ((amount < 'NaN'::numeric));
constraint withdrawal_group_id_fkey on withdrawal: FOREIGN KEY (group_id) REFERENCES evidence_group(id);
constraint withdrawal_pkey on withdrawal: PRIMARY KEY (wallet, withdrawal_id);
constraint withdrawal_state_check on withdrawal: CHECK ((state = ANY (ARRAY['requested'::text, 'sent'::text, 'paid'::text, 'failed'::text, 'unproved'::text])));
constraint withdrawal_status_check on withdrawal: CHECK ((status = ANY (ARRAY['requested'::text, 'sent'::text, 'settled'::text, 'failed'::text])));

CREATE INDEX access_event_at ON public.access_event USING btree (at);
CREATE INDEX access_event_person ON public.access_event USING btree (lower(person), id);
CREATE INDEX address_book_owner ON public.address_book USING btree (owner_kind, owner_id) WHERE (owner_id IS NOT NULL);
CREATE INDEX address_end_address ON public.address_end USING btree (address_id, id DESC);
CREATE INDEX api_record_missed ON public.api_record USING btree (misses) WHERE ((misses > 0) AND (gone_at IS NULL));
CREATE INDEX chain_movement_address ON public.chain_movement USING btree (network, address, asset, height);
CREATE INDEX chain_movement_height ON public.chain_movement USING btree (network, height);
CREATE INDEX chain_movement_outsiders ON public.chain_movement USING btree (network) WHERE (outsiders IS NOT NULL);
CREATE INDEX chain_transfer_height ON public.chain_transfer USING btree (network, height);
CREATE INDEX chain_transfer_received ON public.chain_transfer USING btree (network, address, asset, height) WHERE ((stage = 'final'::text) AND (role = 'deposit'::text));
CREATE INDEX chain_transfer_transfer ON public.chain_transfer USING btree (transfer);
CREATE INDEX credit_safety_journal_id ON public.credit_safety USING btree (journal_id);
CREATE INDEX decision_event_at ON public.decision_event USING btree (at);
CREATE INDEX deposit_address ON public.deposit USING btree (address, id) WHERE (merged_into IS NULL);
CREATE INDEX deposit_group_id ON public.deposit USING btree (group_id);
CREATE INDEX deposit_hour_difference ON public.deposit_hour USING btree (hour) WHERE (NOT is_sum);
CREATE INDEX deposit_hour_hour ON public.deposit_hour USING btree (hour);
CREATE INDEX deposit_merged_into ON public.deposit USING btree (merged_into) WHERE (merged_into IS NOT NULL);
CREATE INDEX deposit_owner ON public.deposit USING btree (owner_id, id) WHERE (merged_into IS NULL);
CREATE INDEX deposit_service ON public.deposit USING btree (service, id) WHERE ((merged_into IS NULL) AND (service <> 'default'::text));
CREATE INDEX deposit_settled_at ON public.deposit USING btree (settled_at) WHERE ((merged_into IS NULL) AND (settled_at IS NOT NULL));
CREATE INDEX deposit_since ON public.deposit USING btree (COALESCE(deposited_at, LEAST(webhook_at, api_at))) WHERE (merged_into IS NULL);
CREATE INDEX deposit_state ON public.deposit USING btree (state, network, service, merged_into);
CREATE INDEX deposit_tx ON public.deposit USING btree (tx);
CREATE INDEX event_attempt_endpoint_id ON public.event_attempt USING btree (endpoint_id, id);
CREATE INDEX evidence_group_id ON public.evidence USING btree (group_id);
CREATE INDEX evidence_group_recheck_at ON public.evidence_group USING btree (recheck_at) WHERE (recheck_at IS NOT NULL);
CREATE INDEX idempotency_key_at ON public.idempotency_key USING btree (at);
CREATE INDEX inbox_pending_stored_at ON public.inbox_pending USING btree (stored_at);
CREATE INDEX ledger_journal_deposit_id ON public.ledger_journal USING btree (deposit_id);
CREATE INDEX ledger_journal_event_at ON public.ledger_journal USING btree (event_at);
CREATE INDEX ledger_journal_late ON public.ledger_journal USING btree (period) WHERE (period <> ledger_month(event_at));
CREATE INDEX ledger_journal_opening ON public.ledger_journal USING btree (event_at) WHERE (kind = 'opening'::text);
CREATE INDEX ledger_journal_rare ON public.ledger_journal USING btree (kind, id) WHERE (kind <> ALL (ARRAY['deposit'::text, 'settlement'::text, 'conversion'::text]));
CREATE INDEX ledger_journal_transfer ON public.ledger_journal USING btree (transfer);
CREATE INDEX ledger_journal_write_off ON public.ledger_journal USING btree (deposit_id) WHERE (kind = 'write_off'::text);
CREATE INDEX ledger_period_event_period ON public.ledger_period_event USING btree (period);
CREATE INDEX ledger_snapshot_account ON public.ledger_snapshot USING btree (account, span);
CREATE INDEX ledger_snapshot_event ON public.ledger_snapshot USING btree (event) WHERE (span = 'day'::text);
CREATE INDEX ledger_transfer_credit ON ONLY public.ledger_transfer USING btree (credit, asset);
CREATE INDEX ledger_transfer_debit ON ONLY public.ledger_transfer USING btree (debit, asset);
CREATE INDEX ledger_transfer_default_credit_asset_idx ON public.ledger_transfer_default USING btree (credit, asset);
CREATE INDEX ledger_transfer_default_debit_asset_idx ON public.ledger_transfer_default USING btree (debit, asset);
CREATE INDEX ledger_transfer_default_event_at_idx ON public.ledger_transfer_default USING btree (event_at);
CREATE INDEX ledger_transfer_default_recorded_at_idx ON public.ledger_transfer_default USING brin (recorded_at) WITH (autosummarize='true');
CREATE INDEX ledger_transfer_event_at ON ONLY public.ledger_transfer USING btree (event_at);
CREATE INDEX ledger_transfer_recorded_at ON ONLY public.ledger_transfer USING brin (recorded_at) WITH (autosummarize='true');
CREATE INDEX leg_search_address ON public.leg_search USING btree (network, address);
CREATE INDEX leg_search_due ON public.leg_search USING btree (network, next_at);
CREATE INDEX link_key_group_id ON public.link_key USING btree (group_id);
CREATE INDEX mismatch_attachment_mismatch_id ON public.mismatch_attachment USING btree (mismatch_id);
CREATE INDEX mismatch_closed_at ON public.mismatch USING btree (LEAST(cleared_at, resolved_at));
CREATE INDEX mismatch_deposit_id ON public.mismatch USING btree (deposit_id);
CREATE INDEX mismatch_event_mentions ON public.mismatch_event USING gin (mentions) WHERE (mentions IS NOT NULL);
CREATE INDEX mismatch_event_mismatch_id ON public.mismatch_event USING btree (mismatch_id);
CREATE INDEX mismatch_event_of_people ON public.mismatch_event USING btree (at) WHERE (actor <> ALL (ARRAY['depositd'::text, 'policy'::text]));
CREATE INDEX mismatch_group_id ON public.mismatch USING btree (group_id);
CREATE INDEX mismatch_group_open ON public.mismatch USING btree (group_id) WHERE (cleared_at IS NULL);
CREATE INDEX mismatch_open_kind ON public.mismatch USING btree (kind, id) WHERE (cleared_at IS NULL);
CREATE INDEX mismatch_opened_at ON public.mismatch USING btree (opened_at);
CREATE INDEX mismatch_unreadable ON public.mismatch USING btree (subject) WHERE (kind = ANY (ARRAY['unknown_event'::text, 'unknown_status'::text, 'schema_drift'::text]));
CREATE INDEX named_transaction_due ON public.named_transaction USING btree (network, next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX notification_cause ON public.notification USING btree (until) WHERE (kind IS NOT NULL);
CREATE INDEX notification_message_key ON public.notification_message USING btree (channel, key, id);
CREATE INDEX notification_message_unsent ON public.notification_message USING btree (channel, id) WHERE (sent_at IS NULL);
CREATE INDEX owner_forward ON public.owner USING btree (forward_network, forward_recipient) WHERE (forward_recipient IS NOT NULL);
CREATE INDEX value_lot_deposit ON public.value_lot USING btree (deposit_id) WHERE (deposit_id IS NOT NULL);
CREATE INDEX withdrawal_group_id ON public.withdrawal USING btree (group_id);
CREATE UNIQUE INDEX access_event_pkey ON public.access_event USING btree (id);
CREATE UNIQUE INDEX account_label_pkey ON public.account_label USING btree (place);
CREATE UNIQUE INDEX address_book_id_key ON public.address_book USING btree (id);
CREATE UNIQUE INDEX address_book_pkey ON public.address_book USING btree (network, address, role);
CREATE UNIQUE INDEX address_end_pkey ON public.address_end USING btree (id);
CREATE UNIQUE INDEX api_record_pkey ON public.api_record USING btree (service_id);
CREATE UNIQUE INDEX api_token_name ON public.api_token USING btree (lower(name)) WHERE (revoked_at IS NULL);
CREATE UNIQUE INDEX api_token_pkey ON public.api_token USING btree (id);
CREATE UNIQUE INDEX api_token_sha256_key ON public.api_token USING btree (sha256);
CREATE UNIQUE INDEX asset_pkey ON public.asset USING btree (key);
CREATE UNIQUE INDEX balance_difference_network_address_asset_after_height_key ON public.balance_difference USING btree (network, address, asset, after_height);
CREATE UNIQUE INDEX balance_difference_pkey ON public.balance_difference USING btree (id);
CREATE UNIQUE INDEX balance_point_pkey ON public.balance_point USING btree (network, address, asset);
CREATE UNIQUE INDEX canary_pkey ON public.canary USING btree (is_only);
CREATE UNIQUE INDEX canary_webhook_pkey ON public.canary_webhook USING btree (token_sha256);
CREATE UNIQUE INDEX chain_coverage_pkey ON public.chain_coverage USING btree (network, watched, assets);
CREATE UNIQUE INDEX chain_gap_since_pkey ON public.chain_gap_since USING btree (network, watched_from);
CREATE UNIQUE INDEX chain_movement_pkey ON public.chain_movement USING btree (network, tx, index, asset, address, block_hash);
CREATE UNIQUE INDEX chain_network_pkey ON public.chain_network USING btree (network);
CREATE UNIQUE INDEX chain_transfer_pkey ON public.chain_transfer USING btree (inbox_id);
CREATE UNIQUE INDEX chain_watch_network_address_key ON public.chain_watch USING btree (network, address);
CREATE UNIQUE INDEX chain_watch_pkey ON public.chain_watch USING btree (network, number);
CREATE UNIQUE INDEX checkpoint_pkey ON public.checkpoint USING btree (size, signed_by);
CREATE UNIQUE INDEX cosignature_pkey ON public.cosignature USING btree (witness, size);
CREATE UNIQUE INDEX credit_safety_deposit_id_number_key ON public.credit_safety USING btree (deposit_id, number);
CREATE UNIQUE INDEX credit_safety_pkey ON public.credit_safety USING btree (id);
CREATE UNIQUE INDEX decision_event_decision_id_action_person_key ON public.decision_event USING btree (decision_id, action, person);
CREATE UNIQUE INDEX decision_event_pkey ON public.decision_event USING btree (id);
CREATE UNIQUE INDEX decision_pkey ON public.decision USING btree (id);
CREATE UNIQUE INDEX decision_uuid_key ON public.decision USING btree (uuid);
CREATE UNIQUE INDEX deposit_pkey ON public.deposit USING btree (id);
CREATE UNIQUE INDEX deposit_service_id_key ON public.deposit USING btree (service_id);
CREATE UNIQUE INDEX deposit_transfer_key ON public.deposit USING btree (transfer);
CREATE UNIQUE INDEX disposal_pkey ON public.disposal USING btree (valued_id, line);
CREATE UNIQUE INDEX event_attempt_pkey ON public.event_attempt USING btree (id);
CREATE UNIQUE INDEX event_delivery_endpoint_id_lane_sequence_key ON public.event_delivery USING btree (endpoint_id, lane, sequence);
CREATE UNIQUE INDEX event_delivery_pkey ON public.event_delivery USING btree (id);
CREATE UNIQUE INDEX event_deposit_id_sequence_key ON public.event USING btree (deposit_id, sequence);
CREATE UNIQUE INDEX event_endpoint_name ON public.event_endpoint USING btree (lower(name)) WHERE (removed_at IS NULL);
CREATE UNIQUE INDEX event_endpoint_pkey ON public.event_endpoint USING btree (id);
CREATE UNIQUE INDEX event_endpoint_secret_newest ON public.event_endpoint_secret USING btree (endpoint_id) WHERE (expires_at IS NULL);
CREATE UNIQUE INDEX event_endpoint_secret_pkey ON public.event_endpoint_secret USING btree (endpoint_id, version);
CREATE UNIQUE INDEX event_id_key ON public.event USING btree (id);
CREATE UNIQUE INDEX event_pending_pkey ON public.event_pending USING btree (id);
CREATE UNIQUE INDEX event_pkey ON public.event USING btree (sequence);
CREATE UNIQUE INDEX evidence_group_pkey ON public.evidence_group USING btree (id);
CREATE UNIQUE INDEX evidence_pkey ON public.evidence USING btree (inbox_id);
CREATE UNIQUE INDEX idempotency_key_pkey ON public.idempotency_key USING btree (token_id, key);
CREATE UNIQUE INDEX inbox_pending_pkey ON public.inbox_pending USING btree (inbox_id);
CREATE UNIQUE INDEX inbox_pkey ON public.inbox USING btree (id);
CREATE UNIQUE INDEX inbox_source_source_key_key ON public.inbox USING btree (source, source_key);
CREATE UNIQUE INDEX invitation_pkey ON public.invitation USING btree (token);
CREATE UNIQUE INDEX ledger_account_pkey ON public.ledger_account USING btree (id, asset);
CREATE UNIQUE INDEX ledger_journal_pkey ON public.ledger_journal USING btree (id);
CREATE UNIQUE INDEX ledger_journal_posting_key_key ON public.ledger_journal USING btree (posting_key);
CREATE UNIQUE INDEX ledger_journal_reverses_key ON public.ledger_journal USING btree (reverses) WHERE (reverses IS NOT NULL);
CREATE UNIQUE INDEX ledger_last_cut_pkey ON public.ledger_last_cut USING btree (is_only);
CREATE UNIQUE INDEX ledger_period_balance_pkey ON public.ledger_period_balance USING btree (event_id, account, asset);
CREATE UNIQUE INDEX ledger_period_event_decision_id_key ON public.ledger_period_event USING btree (decision_id);
CREATE UNIQUE INDEX ledger_period_event_pkey ON public.ledger_period_event USING btree (id);
CREATE UNIQUE INDEX ledger_period_pkey ON public.ledger_period USING btree (period);
CREATE UNIQUE INDEX ledger_snapshot_day_pkey ON public.ledger_snapshot_day USING btree (recorded);
CREATE UNIQUE INDEX ledger_snapshot_pkey ON public.ledger_snapshot USING btree (span, recorded, event, account, asset);
CREATE UNIQUE INDEX ledger_transfer_default_pkey ON public.ledger_transfer_default USING btree (journal_id, leg, recorded_at);
CREATE UNIQUE INDEX ledger_transfer_pkey ON ONLY public.ledger_transfer USING btree (journal_id, leg, recorded_at);
CREATE UNIQUE INDEX leg_search_service_id_role_network_address_tx_key ON public.leg_search USING btree (service_id, role, network, address, tx) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX link_key_pkey ON public.link_key USING btree (key);
CREATE UNIQUE INDEX manual_journal_pkey ON public.manual_journal USING btree (journal_id);
CREATE UNIQUE INDEX mismatch_attachment_pkey ON public.mismatch_attachment USING btree (id);
CREATE UNIQUE INDEX mismatch_event_pkey ON public.mismatch_event USING btree (id);
CREATE UNIQUE INDEX mismatch_event_undoes_key ON public.mismatch_event USING btree (undoes);
CREATE UNIQUE INDEX mismatch_open ON public.mismatch USING btree (subject, kind) WHERE (cleared_at IS NULL);
CREATE UNIQUE INDEX mismatch_pkey ON public.mismatch USING btree (id);
CREATE UNIQUE INDEX named_transaction_pkey ON public.named_transaction USING btree (network, tx, role, address);
CREATE UNIQUE INDEX notification_channel_key_key ON public.notification USING btree (channel, key);
CREATE UNIQUE INDEX notification_message_message_id_key ON public.notification_message USING btree (message_id);
CREATE UNIQUE INDEX notification_message_pkey ON public.notification_message USING btree (id);
CREATE UNIQUE INDEX notification_pkey ON public.notification USING btree (id);
CREATE UNIQUE INDEX opening_lot_journal_id_account_asset_acquired_at_key ON public.opening_lot USING btree (journal_id, account, asset, acquired_at);
CREATE UNIQUE INDEX opening_lot_pkey ON public.opening_lot USING btree (id);
CREATE UNIQUE INDEX owner_number_key ON public.owner USING btree (number);
CREATE UNIQUE INDEX owner_pkey ON public.owner USING btree (kind, id);
CREATE UNIQUE INDEX price_asset_currency_at_source_key ON public.price USING btree (asset, currency, at, source);
CREATE UNIQUE INDEX price_pkey ON public.price USING btree (id);
CREATE UNIQUE INDEX proposal_open_deposit ON public.proposal USING btree (role, service_id) WHERE (state = 'proposed'::text);
CREATE UNIQUE INDEX proposal_open_transfer ON public.proposal USING btree (role, transfer) WHERE (state = 'proposed'::text);
CREATE UNIQUE INDEX proposal_pkey ON public.proposal USING btree (id);
CREATE UNIQUE INDEX proposal_service_id_role_transfer_key ON public.proposal USING btree (service_id, role, transfer);
CREATE UNIQUE INDEX quarantine_pkey ON public.quarantine USING btree (id);
CREATE UNIQUE INDEX rule_set_pkey ON public.rule_set USING btree (id);
CREATE UNIQUE INDEX saved_view_pkey ON public.saved_view USING btree (page, name);
CREATE UNIQUE INDEX seal_first_leaf_key ON public.seal USING btree (first_leaf);
CREATE UNIQUE INDEX seal_node_pkey ON public.seal_node USING btree (height, place);
CREATE UNIQUE INDEX seal_number_next_leaf_key ON public.seal USING btree (number, next_leaf);
CREATE UNIQUE INDEX seal_pkey ON public.seal USING btree (number);
CREATE UNIQUE INDEX seal_sealed_table_after_id_key ON public.seal USING btree (sealed_table, after_id) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX seal_sealed_table_last_id_key ON public.seal USING btree (sealed_table, last_id);
CREATE UNIQUE INDEX session_pkey ON public.session USING btree (token);
CREATE UNIQUE INDEX stream_pkey ON public.stream USING btree (name);
CREATE UNIQUE INDEX valuation_rule_pkey ON public.valuation_rule USING btree (id);
CREATE UNIQUE INDEX value_lot_account_asset_deposit_id_origin_acquired_at_key ON public.value_lot USING btree (account, asset, deposit_id, origin, acquired_at) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX valued_journal_close_id_kind_key ON public.valued_journal USING btree (close_id, kind);
CREATE UNIQUE INDEX valued_journal_journal_id_key ON public.valued_journal USING btree (journal_id);
CREATE UNIQUE INDEX valued_journal_pkey ON public.valued_journal USING btree (id);
CREATE UNIQUE INDEX valued_line_pkey ON public.valued_line USING btree (valued_id, line);
CREATE UNIQUE INDEX wallet_balance_pkey ON public.wallet_balance USING btree (wallet);
CREATE UNIQUE INDEX webhook_conflict_inbox_id_key ON public.webhook_conflict USING btree (inbox_id);
CREATE UNIQUE INDEX webhook_conflict_pkey ON public.webhook_conflict USING btree (first_id, sha256);
CREATE UNIQUE INDEX webhook_repeat_pkey ON public.webhook_repeat USING btree (inbox_id);
CREATE UNIQUE INDEX withdrawal_pkey ON public.withdrawal USING btree (wallet, withdrawal_id);

view accounting.accounts as
 SELECT a.id AS account,
    split_part(a.id, ':'::text, 1) AS class,
        CASE
            WHEN (split_part(a.id, ':'::text, 1) = 'trading'::text) THEN 'none'::text
            WHEN (split_part(a.id, ':'::text, 1) = ANY (ARRAY['assets'::text, 'expenses'::text])) THEN 'debit'::text
            ELSE 'credit'::text
        END AS normal,
    l.code,
    l.name
   FROM (( SELECT DISTINCT ledger_account.id
           FROM ledger_account) a
     LEFT JOIN LATERAL ( SELECT account_label.code,
            account_label.name
           FROM account_label
          WHERE fits_pattern(a.id, account_label.pattern)
          ORDER BY account_label.place
         LIMIT 1) l ON (true));
view accounting.address_book as
 SELECT b.network,
    b.address,
    b.role,
    b.owner_kind,
    b.owner_id,
    b.added_at,
    b.added_by,
    b.approved_by,
    b.valid_from,
    e.valid_until,
    e.at AS ended_at,
    e.ended_by,
    e.approved_by AS end_approved_by,
    e.reason AS end_reason,
    b.decision_id,
    e.decision_id AS end_decision_id
   FROM (address_book b
     LEFT JOIN LATERAL ( SELECT address_end.valid_until,
            address_end.at,
            address_end.ended_by,
            address_end.approved_by,
            address_end.reason,
            address_end.decision_id
           FROM address_end
          WHERE (address_end.address_id = b.id)
          ORDER BY address_end.id DESC
         LIMIT 1) e ON (true));
view accounting.audit_log as
 SELECT ('access '::text || access_event.id) AS entry,
    access_event.at,
    access_event.person,
    access_event.action,
    access_event.detail,
    access_event.login
   FROM access_event
UNION ALL
 SELECT ('decision event '::text || e.id) AS entry,
    e.at,
    e.person,
    e.action,
    ((('decision '::text || d.id) || ': '::text) || replace(d.kind, '_'::text, ' '::text)) AS detail,
    NULL::text AS login
   FROM (decision_event e
     JOIN decision d ON ((d.id = e.decision_id)))
UNION ALL
 SELECT ('mismatch event '::text || mismatch_event.id) AS entry,
    mismatch_event.at,
    mismatch_event.actor AS person,
    mismatch_event.action,
    (('mismatch '::text || mismatch_event.mismatch_id) || COALESCE((', undoes mismatch event '::text || mismatch_event.undoes), ''::text)) AS detail,
    NULL::text AS login
   FROM mismatch_event
  WHERE (mismatch_event.actor <> ALL (ARRAY['depositd'::text, 'policy'::text]))
UNION ALL
 SELECT ('rules '::text || rule_set.id) AS entry,
    rule_set.since AS at,
    rule_set.requested_by AS person,
    'rules_changed'::text AS action,
    ('rules '::text || rule_set.id) AS detail,
    NULL::text AS login
   FROM rule_set;
view accounting.balances as
 SELECT b.account,
    a.symbol AS asset_symbol,
    b.asset,
    accounting.in_units(b.balance, a.decimals) AS balance,
    b.balance AS balance_base
   FROM (ledger_balance b
     JOIN asset a ON ((a.key = b.asset)));
view accounting.checkpoints as
 SELECT size,
    encode(root, 'hex'::text) AS root,
    made_at,
    signed_by,
    note
   FROM checkpoint;
view accounting.conversion as
 SELECT j.id AS journal_id,
    j.kind,
    j.deposit_id,
    d.owner_kind,
    d.owner_id,
    pa.symbol AS paid_asset_symbol,
    paid.asset AS paid_asset,
    accounting.in_units(paid.amount, pa.decimals) AS paid,
    paid.amount AS paid_base,
    receipt.event_at AS received_at,
    da.symbol AS delivered_asset_symbol,
    delivered.asset AS delivered_asset,
    accounting.in_units(delivered.amount, da.decimals) AS delivered,
    delivered.amount AS delivered_base,
    j.event_at AS settled_at,
    j.recorded_at,
    rule.currency,
    pp.price AS paid_price,
    pp.price_at AS paid_price_at,
    pp.source AS paid_price_source,
    (accounting.in_units(paid.amount, pa.decimals) * pp.price) AS paid_value,
    dp.price AS delivered_price,
    dp.price_at AS delivered_price_at,
    dp.source AS delivered_price_source,
    (accounting.in_units(delivered.amount, da.decimals) * dp.price) AS delivered_value,
    ((accounting.in_units(delivered.amount, da.decimals) * dp.price) - (accounting.in_units(paid.amount, pa.decimals) * pp.price)) AS difference
   FROM ((((((((((ledger_journal j
     LEFT JOIN ledger_journal o ON ((o.id = j.reverses)))
     LEFT JOIN deposit d ON ((d.id = j.deposit_id)))
     JOIN LATERAL ( SELECT e.asset,
            (- sum(e.amount)) AS amount
           FROM ledger_entry e
          WHERE ((e.journal_id = j.id) AND (e.recorded_at = j.recorded_at) AND (e.account ~~ 'assets:in\_transit:%'::text))
          GROUP BY e.asset
          ORDER BY e.asset
         LIMIT 1) paid ON (true))
     JOIN asset pa ON ((pa.key = paid.asset)))
     LEFT JOIN LATERAL ( SELECT min(t.asset) AS asset,
            sum(
                CASE
                    WHEN (t.credit ~~ 'trading:%'::text) THEN t.amount
                    ELSE (- t.amount)
                END) AS amount
           FROM ledger_transfer t
          WHERE ((t.journal_id = j.id) AND (t.recorded_at = j.recorded_at) AND ((t.debit ~~ 'trading:%'::text) OR (t.credit ~~ 'trading:%'::text)) AND (t.debit !~~ 'assets:in\_transit:%'::text) AND (t.credit !~~ 'assets:in\_transit:%'::text))
         HAVING (count(DISTINCT t.asset) = 1)) delivered ON (true))
     LEFT JOIN asset da ON ((da.key = delivered.asset)))
     CROSS JOIN LATERAL ( SELECT COALESCE(( SELECT r.event_at
                   FROM ledger_journal r
                  WHERE ((r.transfer = j.transfer) AND (r.kind = 'deposit'::text))
                  ORDER BY (EXISTS ( SELECT
                           FROM ledger_journal b
                          WHERE (b.reverses = r.id))), r.id DESC
                 LIMIT 1), d.deposited_at) AS event_at) receipt)
     LEFT JOIN active_valuation rule ON (true))
     LEFT JOIN LATERAL accounting.price_at(paid.asset, receipt.event_at) pp(currency, price, price_at, source) ON (true))
     LEFT JOIN LATERAL accounting.price_at(delivered.asset, j.event_at) dp(currency, price, price_at, source) ON (true))
  WHERE (COALESCE(o.kind, j.kind) = 'settlement'::text);
view accounting.coverage as
 SELECT w.network,
    w.address,
    w.from_height,
    n.height AS to_height,
    COALESCE(( SELECT sum((upper(stretch.stretch) - lower(stretch.stretch))) AS sum
           FROM unnest(g.heights) stretch(stretch)), (0)::numeric) AS missing_heights,
    w.enrolled_at
   FROM ((chain_watch w
     JOIN chain_network n ON ((n.network = w.network)))
     LEFT JOIN chain_gap g ON (((g.network = w.network) AND (g.from_height = w.from_height) AND ((w.number >= g.watched_from) AND (w.number <= g.watched_to)))));
view accounting.coverage_gaps as
 SELECT g.network,
    lower(stretch.stretch) AS from_height,
    (upper(stretch.stretch) - 1) AS to_height,
    g.addresses,
    g.since
   FROM chain_gap g,
    LATERAL unnest(g.heights) stretch(stretch);
view accounting.credit_safety as
 SELECT DISTINCT ON (c.deposit_id) c.deposit_id,
    d.service,
    d.service_id,
    (c.action = 'safe'::text) AS is_safe,
    c.at AS since,
    a.symbol AS asset_symbol,
    c.asset,
    accounting.in_units(c.amount, a.decimals) AS amount,
    c.amount AS amount_base,
    c.account,
    c.reason,
    c.height,
    c.block_hash,
    c.final_at,
    c.journal_id
   FROM ((credit_safety c
     JOIN deposit d ON (((d.id = c.deposit_id) AND (d.merged_into IS NULL))))
     LEFT JOIN asset a ON ((a.key = c.asset)))
  ORDER BY c.deposit_id, c.number DESC;
view accounting.daily_totals as
 SELECT t.day,
    d.service,
    d.owner_kind,
    d.owner_id,
    a.network,
    a.symbol AS asset_symbol,
    t.asset,
    sum(t.deposits) AS deposits,
    accounting.in_units(sum(t.came_in), a.decimals) AS amount,
    sum(t.came_in) AS amount_base,
    accounting.in_units(sum(t.unclaimed), a.decimals) AS unclaimed,
    sum(t.unclaimed) AS unclaimed_base,
    sum(t.settlements) AS settlements,
    accounting.in_units(sum(t.settled), a.decimals) AS settled,
    sum(t.settled) AS settled_base,
    accounting.in_units(sum(t.otherwise), a.decimals) AS otherwise,
    sum(t.otherwise) AS otherwise_base
   FROM ((( SELECT ((ledger_transit.event_at AT TIME ZONE 'UTC'::text))::date AS day,
            ledger_transit.deposit_id,
            ledger_transit.asset,
                CASE
                    WHEN (ledger_transit.kind <> 'deposit'::text) THEN 0
                    WHEN ledger_transit.is_reversal THEN '-1'::integer
                    ELSE 1
                END AS deposits,
                CASE
                    WHEN (ledger_transit.kind <> 'settlement'::text) THEN 0
                    WHEN ledger_transit.is_reversal THEN '-1'::integer
                    ELSE 1
                END AS settlements,
                CASE
                    WHEN (ledger_transit.kind = 'deposit'::text) THEN ledger_transit.amount
                    ELSE (0)::numeric
                END AS came_in,
                CASE
                    WHEN ((ledger_transit.kind = 'deposit'::text) AND (ledger_transit.contra = 'liabilities:suspense'::text)) THEN ledger_transit.amount
                    ELSE (0)::numeric
                END AS unclaimed,
                CASE
                    WHEN (ledger_transit.kind = 'settlement'::text) THEN (- ledger_transit.amount)
                    ELSE (0)::numeric
                END AS settled,
                CASE
                    WHEN (ledger_transit.kind <> ALL (ARRAY['deposit'::text, 'settlement'::text])) THEN (- ledger_transit.amount)
                    ELSE (0)::numeric
                END AS otherwise
           FROM ledger_transit) t
     JOIN asset a ON ((a.key = t.asset)))
     LEFT JOIN deposit d ON ((d.id = t.deposit_id)))
  GROUP BY t.day, d.service, d.owner_kind, d.owner_id, a.network, a.symbol, a.decimals, t.asset
 HAVING ((sum(t.deposits) <> 0) OR (sum(t.settlements) <> 0) OR (sum(t.came_in) <> (0)::numeric) OR (sum(t.settled) <> (0)::numeric) OR (sum(t.otherwise) <> (0)::numeric));
view accounting.decisions as
 SELECT d.id,
    d.kind,
        CASE
            WHEN (ended.action IS NOT NULL) THEN ended.action
            WHEN (signed.people >= d.people) THEN 'done'::text
            ELSE 'waiting'::text
        END AS state,
    d.people,
    signed.requested_by,
    d.requested_at,
    signed.approved_by,
    COALESCE(ended.at, signed.last_at) AS decided_at,
    ended.reason,
    d.text
   FROM ((decision d
     LEFT JOIN LATERAL ( SELECT count(*) AS people,
            max(signature.person) FILTER (WHERE (signature.place = 1)) AS requested_by,
            max(signature.person) FILTER (WHERE (signature.place = 2)) AS approved_by,
            max(signature.at) FILTER (WHERE (signature.place = d.people)) AS last_at
           FROM ( SELECT decision_event.person,
                    decision_event.at,
                    row_number() OVER (ORDER BY decision_event.id) AS place
                   FROM decision_event
                  WHERE ((decision_event.decision_id = d.id) AND (decision_event.action = 'signed'::text))) signature) signed ON (true))
     LEFT JOIN LATERAL ( SELECT decision_event.action,
            decision_event.at,
            decision_event.reason
           FROM decision_event
          WHERE ((decision_event.decision_id = d.id) AND (decision_event.action <> 'signed'::text))
          ORDER BY decision_event.id
         LIMIT 1) ended ON (true));
view accounting.deposits as
 SELECT id,
    service,
    service_id,
    state,
    owner_kind,
    owner_id,
    network,
    address,
    asset_symbol,
    asset,
    amount,
    amount_base,
    tx,
    settlement_network,
    settlement_address,
    settlement_asset_symbol,
    settlement_asset,
    settlement_amount,
    settlement_amount_base,
    settlement_tx,
    fee,
    fee_base,
    deposited_at,
    final_at,
    settled_at,
    reconciled_at
   FROM deposit_report
  WHERE (state <> 'ignored'::text);
view accounting.disposals as
 SELECT v.journal_id,
    d.line AS part,
    d.account,
    a.symbol AS asset_symbol,
    d.asset,
    d.acquired_at,
    d.acquired_by,
    v.event_at AS disposed_at,
    accounting.in_units(d.units, a.decimals) AS amount,
    d.units AS amount_base,
    v.currency,
    accounting.in_units(d.proceeds, v.places) AS proceeds,
    accounting.in_units(d.cost, v.places) AS cost,
    accounting.in_units((d.proceeds - d.cost), v.places) AS gain,
    v.period
   FROM ((disposal d
     JOIN valued_journal v ON ((v.id = d.valued_id)))
     JOIN asset a ON ((a.key = d.asset)));
view accounting.entries as
 SELECT e.journal_id,
    e.leg,
    j.posting_key,
    j.kind,
    j.deposit_id,
    e.account,
    a.symbol AS asset_symbol,
    e.asset,
    accounting.in_units(e.amount, a.decimals) AS amount,
    e.amount AS amount_base,
    e.event_at,
    e.recorded_at,
    e.period,
    ledger_month(e.event_at) AS belongs_to
   FROM ((ledger_entry e
     JOIN ledger_journal j ON ((j.id = e.journal_id)))
     JOIN asset a ON ((a.key = e.asset)));
view accounting.fees as
 WITH fee AS (
         SELECT e.journal_id,
            e.recorded_at,
            e.asset,
            'us'::text AS borne_by,
            sum(e.amount) AS amount
           FROM ledger_entry e
          WHERE (e.account = 'expenses:fees:service'::text)
          GROUP BY e.journal_id, e.recorded_at, e.asset
        UNION ALL
         SELECT t.journal_id,
            t.recorded_at,
            t.asset,
            'customer'::text,
            sum(
                CASE
                    WHEN (t.credit ~~ 'trading:%'::text) THEN t.amount
                    ELSE (- t.amount)
                END) AS sum
           FROM ((ledger_transfer t
             JOIN ledger_journal j_1 ON ((j_1.id = t.journal_id)))
             LEFT JOIN ledger_journal o ON ((o.id = j_1.reverses)))
          WHERE ((COALESCE(o.kind, j_1.kind) = 'settlement'::text) AND ((t.debit ~~ 'liabilities:%'::text) OR (t.credit ~~ 'liabilities:%'::text)))
          GROUP BY t.journal_id, t.recorded_at, t.asset
        )
 SELECT j.id AS journal_id,
    j.deposit_id,
    d.service,
    d.owner_kind,
    d.owner_id,
    p.network,
    p.symbol AS asset_symbol,
    paid.asset,
    accounting.in_units(paid.amount, p.decimals) AS amount,
    paid.amount AS amount_base,
    s.network AS settlement_network,
    s.symbol AS settlement_asset_symbol,
    f.asset AS settlement_asset,
    accounting.in_units(delivered.amount, s.decimals) AS settlement_amount,
    delivered.amount AS settlement_amount_base,
    accounting.in_units(f.amount, s.decimals) AS fee,
    f.amount AS fee_base,
    f.borne_by,
    j.event_at,
    j.recorded_at
   FROM ((((((fee f
     JOIN ledger_journal j ON (((j.id = f.journal_id) AND (j.recorded_at = f.recorded_at))))
     JOIN asset s ON ((s.key = f.asset)))
     LEFT JOIN deposit d ON ((d.id = j.deposit_id)))
     LEFT JOIN LATERAL ( SELECT e.asset,
            (- sum(e.amount)) AS amount
           FROM ledger_entry e
          WHERE ((e.journal_id = j.id) AND (e.recorded_at = j.recorded_at) AND (e.account ~~ 'assets:in\_transit:%'::text))
          GROUP BY e.asset
         LIMIT 1) paid ON (true))
     LEFT JOIN asset p ON ((p.key = paid.asset)))
     LEFT JOIN LATERAL ( SELECT sum(e.amount) AS amount
           FROM ledger_entry e
          WHERE ((e.journal_id = j.id) AND (e.recorded_at = j.recorded_at) AND (e.asset = f.asset) AND ((e.account ~~ 'assets:forwarded:%'::text) OR (e.account ~~ 'assets:stable\_wallet:%'::text)))) delivered ON (true));
view accounting.in_transit_age as
 SELECT deposit_id,
    service,
    service_id,
    state,
    owner_kind,
    owner_id,
    network,
    asset_symbol,
    asset,
    amount,
    amount_base,
    since,
    age,
    bucket,
    from_age
   FROM accounting.in_transit_at(now()) in_transit_at(deposit_id, service, service_id, state, owner_kind, owner_id, network, asset_symbol, asset, amount, amount_base, since, age, bucket, from_age);
view accounting.journal as
 SELECT id,
    posting_key,
    kind,
    deposit_id,
    reverses,
    event_at,
    recorded_at,
    period,
    ledger_month(event_at) AS belongs_to
   FROM ledger_journal j;
view accounting.late_items as
 SELECT id AS journal_id,
    posting_key,
    kind,
    deposit_id,
    reverses,
    ledger_month(event_at) AS belongs_to,
    period,
    event_at,
    recorded_at
   FROM ledger_journal j
  WHERE (period <> ledger_month(event_at));
view accounting.manual_journals as
 SELECT j.id AS journal_id,
    j.posting_key,
    j.kind,
    m.reason,
    m.made_by,
    m.approved_by,
    m.decision_id,
    j.deposit_id,
    changed.at AS changed_at,
    j.reverses,
    r.id AS reversed_by,
    j.event_at,
    j.recorded_at,
    j.period
   FROM (((manual_journal m
     JOIN ledger_journal j ON ((j.id = m.journal_id)))
     LEFT JOIN ledger_journal r ON ((r.reverses = j.id)))
     LEFT JOIN LATERAL ( SELECT min(later.at) AS at
           FROM ( SELECT l.recorded_at AS at
                   FROM ledger_journal l
                  WHERE ((l.deposit_id = j.deposit_id) AND (l.transfer IS NOT NULL) AND (l.recorded_at > j.recorded_at))
                UNION ALL
                 SELECT unnest(ARRAY[x.opened_at, x.cleared_at]) AS unnest
                   FROM mismatch x
                  WHERE (x.deposit_id = j.deposit_id)) later
          WHERE (later.at > j.recorded_at)) changed ON (((j.kind = 'manual'::text) AND (r.id IS NULL))));
view accounting.mismatch_ageing as
 SELECT stakes.service,
    stakes.kind,
    stakes.severity,
    a.symbol AS asset_symbol,
    stakes.asset,
    stakes.bucket,
    stakes.from_age,
    (sum(stakes.mismatches))::bigint AS mismatches,
    accounting.in_units(sum(stakes.loss), a.decimals) AS amount,
    sum(stakes.loss) AS amount_base,
    sum(stakes.loss_value) AS value,
    max(stakes.currency) AS currency
   FROM (( SELECT open_mismatch.service,
            open_mismatch.kind,
            open_mismatch.severity,
            open_mismatch.loss_asset AS asset,
            open_mismatch.stake,
            aged.bucket,
            aged.from_age,
            count(*) AS mismatches,
            max(open_mismatch.loss_amount) AS loss,
            max(open_mismatch.loss_value) AS loss_value,
            max(open_mismatch.currency) AS currency
           FROM (open_mismatch
             CROSS JOIN LATERAL ( SELECT buckets.bucket,
                    buckets.from_age
                   FROM ( VALUES ('< 1 h'::text,'00:00:00'::interval), ('< 24 h'::text,'01:00:00'::interval), ('< 3 d'::text,'24:00:00'::interval), ('< 7 d'::text,'3 days'::interval), ('< 30 d'::text,'7 days'::interval), ('older'::text,'30 days'::interval)) buckets(bucket, from_age)
                  WHERE (buckets.from_age <= GREATEST((now() - open_mismatch.opened_at), '00:00:00'::interval))
                  ORDER BY buckets.from_age DESC
                 LIMIT 1) aged)
          GROUP BY open_mismatch.service, open_mismatch.kind, open_mismatch.severity, open_mismatch.loss_asset, open_mismatch.stake, aged.bucket, aged.from_age) stakes
     LEFT JOIN asset a ON ((a.key = stakes.asset)))
  GROUP BY stakes.service, stakes.kind, stakes.severity, a.symbol, a.decimals, stakes.asset, stakes.bucket, stakes.from_age;
view accounting.mismatch_history as
 SELECT m.id AS mismatch_id,
    m.opened_at AS at,
    'depositd'::text AS actor,
    'opened'::text AS action,
    NULL::text AS text,
    NULL::text AS approved_by,
    NULL::bigint AS decision_id,
    NULL::jsonb AS before,
    NULL::jsonb AS after,
    NULL::bigint AS event,
    NULL::bigint AS undoes
   FROM mismatch m
UNION ALL
 SELECT mismatch_event.mismatch_id,
    mismatch_event.at,
    mismatch_event.actor,
    mismatch_event.action,
    mismatch_event.text,
    mismatch_event.approved_by,
    mismatch_event.decision_id,
    mismatch_event.before,
    mismatch_event.after,
    mismatch_event.id AS event,
    mismatch_event.undoes
   FROM mismatch_event
UNION ALL
 SELECT m.id AS mismatch_id,
    m.cleared_at AS at,
    'depositd'::text AS actor,
    'cleared'::text AS action,
    NULL::text AS text,
    NULL::text AS approved_by,
    NULL::bigint AS decision_id,
    NULL::jsonb AS before,
    NULL::jsonb AS after,
    NULL::bigint AS event,
    NULL::bigint AS undoes
   FROM mismatch m
  WHERE (m.cleared_at IS NOT NULL);
view accounting.mismatches as
 SELECT m.id,
    m.service,
    m.kind,
    m.severity,
    m.deposit_id,
    m.subject,
    m.network,
    a.symbol AS asset_symbol,
    m.asset,
    accounting.in_units(m.value, a.decimals) AS amount,
    m.value AS amount_base,
        CASE
            WHEN (b.wallet IS NULL) THEN m.detail
            ELSE (m.detail || jsonb_build_object('balance', (b.balance)::text, 'books', (b.books)::text, 'leaving', (b.leaving)::text, 'arriving', (b.arriving)::text))
        END AS detail,
    m.opened_at,
    m.cleared_at,
    m.cleared_how,
    (COALESCE(LEAST(m.resolved_at, m.cleared_at), now()) - m.opened_at) AS age,
        CASE
            WHEN (m.cleared_at IS NOT NULL) THEN 'cleared'::text
            WHEN (m.resolved_at IS NOT NULL) THEN 'resolved'::text
            WHEN ((m.snoozed_until > now()) OR (m.snooze_ends_with IS NOT NULL)) THEN 'snoozed'::text
            ELSE 'open'::text
        END AS status,
    m.assigned_to,
    m.snoozed_until,
    m.snooze_ends_with,
    m.resolved_at,
    m.resolved_by,
    m.resolved_reason AS reason,
    m.loss_asset_symbol,
    m.loss_asset,
    m.loss,
    m.loss_amount AS loss_base,
    m.loss_share,
    m.loss_value,
    m.currency
   FROM ((mismatch_loss m
     LEFT JOIN asset a ON ((a.key = m.asset)))
     LEFT JOIN wallet_balance b ON (((m.kind = 'wallet_balance_mismatch'::text) AND (m.cleared_at IS NULL) AND (b.wallet = (m.detail ->> 'wallet'::text)))));
view accounting.open_conversions as
 SELECT t.deposit_id,
    d.service,
    d.service_id,
    d.state,
    d.owner_kind,
    d.owner_id,
    a.symbol AS asset_symbol,
    t.asset,
    accounting.in_units(t.amount, a.decimals) AS amount,
    t.amount AS amount_base,
    t.since,
    (now() - t.since) AS age
   FROM ((( SELECT j.deposit_id,
            e.asset,
            sum(e.amount) AS amount,
            min(e.event_at) AS since
           FROM (ledger_entry e
             JOIN ledger_journal j ON ((j.id = e.journal_id)))
          WHERE ((e.account ~~ 'trading:%'::text) AND (j.deposit_id IS NOT NULL))
          GROUP BY j.deposit_id, e.asset
         HAVING (sum(e.amount) <> (0)::numeric)) t
     JOIN asset a ON ((a.key = t.asset)))
     JOIN deposit d ON ((d.id = t.deposit_id)))
  WHERE (EXISTS ( SELECT
           FROM (ledger_journal j
             JOIN ledger_transfer o ON (((o.journal_id = j.id) AND (o.recorded_at = j.recorded_at))))
          WHERE ((j.deposit_id = t.deposit_id) AND ((o.debit ~~ 'liabilities:%'::text) OR (o.credit ~~ 'liabilities:%'::text)))));
view accounting.period_balances as
 SELECT e.period,
    ( SELECT count(*) AS count
           FROM ledger_period_event c
          WHERE ((c.period = e.period) AND (c.action = 'closed'::text) AND (c.id <= e.id))) AS closing,
    (NOT (EXISTS ( SELECT
           FROM ledger_period_event r
          WHERE ((r.period = e.period) AND (r.action = 'reopened'::text) AND (r.id > e.id))))) AS stands,
    b.account,
    a.symbol AS asset_symbol,
    b.asset,
    accounting.in_units(b.debit, a.decimals) AS debit,
    accounting.in_units(b.credit, a.decimals) AS credit,
    accounting.in_units((b.debit - b.credit), a.decimals) AS balance,
    b.debit AS debit_base,
    b.credit AS credit_base,
    (b.debit - b.credit) AS balance_base
   FROM ((ledger_period_balance b
     JOIN ledger_period_event e ON ((e.id = b.event_id)))
     JOIN asset a ON ((a.key = b.asset)));
view accounting.period_history as
 SELECT id,
    period,
    action,
    at,
    actor,
    approved_by,
    decision_id,
    reason,
    forced,
    severe_open,
    last_journal,
    sha256
   FROM ledger_period_event;
view accounting.periods as
 WITH state AS (
         SELECT max(ledger_period.period) FILTER (WHERE (ledger_period.state = 'closed'::text)) AS closed,
            max(ledger_period.period) FILTER (WHERE (ledger_period.state <> 'open'::text)) AS softly,
            min(ledger_period.period) AS first
           FROM ledger_period
        ), late AS MATERIALIZED (
         SELECT ledger_journal.period,
            ledger_month(ledger_journal.event_at) AS belongs_to
           FROM ledger_journal
          WHERE (ledger_journal.period <> ledger_month(ledger_journal.event_at))
        ), bounds AS (
         SELECT LEAST(( SELECT min(late.period) AS min
                   FROM late), state_1.first, ledger_month(( SELECT ledger_journal.event_at
                   FROM ledger_journal
                  WHERE (ledger_journal.period = ledger_month(ledger_journal.event_at))
                  ORDER BY ledger_journal.event_at
                 LIMIT 1))) AS first,
            GREATEST(( SELECT max(late.period) AS max
                   FROM late), state_1.softly, ledger_month(now()), ledger_month(( SELECT ledger_journal.event_at
                   FROM ledger_journal
                  WHERE (ledger_journal.period = ledger_month(ledger_journal.event_at))
                  ORDER BY ledger_journal.event_at DESC
                 LIMIT 1))) AS last
           FROM state state_1
        ), last_event AS (
         SELECT DISTINCT ON (ledger_period_event.period) ledger_period_event.id,
            ledger_period_event.period,
            ledger_period_event.action,
            ledger_period_event.at,
            ledger_period_event.decision_id,
            ledger_period_event.actor,
            ledger_period_event.approved_by,
            ledger_period_event.reason,
            ledger_period_event.severe_open,
            ledger_period_event.forced,
            ledger_period_event.last_journal,
            ledger_period_event.cut_at,
            ledger_period_event.sha256
           FROM ledger_period_event
          ORDER BY ledger_period_event.period, ledger_period_event.id DESC
        )
 SELECT (month.month)::date AS period,
        CASE
            WHEN (month.month <= state.closed) THEN 'closed'::text
            WHEN (month.month <= state.softly) THEN 'soft_closed'::text
            ELSE 'open'::text
        END AS state,
    ((in_month.events - in_month.booked_later) + in_month.late) AS journals,
    in_month.late AS late_journals,
    e.at AS closed_at,
    e.actor AS closed_by,
    e.approved_by,
    e.reason,
    e.forced,
    e.severe_open,
    e.sha256,
    ( SELECT count(*) AS count
           FROM ledger_period_event r
          WHERE ((r.period = month.month) AND (r.action = 'reopened'::text))) AS reopened
   FROM ((((bounds
     CROSS JOIN LATERAL generate_series((bounds.first)::timestamp with time zone, (bounds.last)::timestamp with time zone, '1 mon'::interval) month(month))
     CROSS JOIN state)
     CROSS JOIN LATERAL ( SELECT ( SELECT count(*) AS count
                   FROM ledger_journal j
                  WHERE ((j.event_at >= ((month.month)::timestamp without time zone AT TIME ZONE 'UTC'::text)) AND (j.event_at < (((month.month)::timestamp without time zone + '1 mon'::interval) AT TIME ZONE 'UTC'::text)))) AS events,
            ( SELECT count(*) AS count
                   FROM late
                  WHERE (late.belongs_to = (month.month)::date)) AS booked_later,
            ( SELECT count(*) AS count
                   FROM late
                  WHERE (late.period = (month.month)::date)) AS late) in_month)
     LEFT JOIN last_event e ON (((e.period = month.month) AND (e.action <> 'reopened'::text))));
view accounting.prices as
 SELECT a.symbol AS asset_symbol,
    p.asset,
    p.currency,
    p.at,
    p.price,
    p.source,
    p.imported_at
   FROM (price p
     JOIN asset a ON ((a.key = p.asset)));
view accounting.rule_sets as
 SELECT id,
    (rules)::jsonb AS rules,
    since,
    requested_by,
    approved_by,
    decision_id
   FROM rule_set;
view accounting.scorecard as
 SELECT service,
    scope,
    network,
    asset_symbol,
    asset,
    settlement_network,
    settlement_asset_symbol,
    settlement_asset,
    deposits,
    settled,
    steps_known,
    steps_reported,
    completeness,
    sampled,
    webhooks,
    duplicates,
    duplicates_share,
    delivery_p50_seconds,
    delivery_p95_seconds,
    delivery_p99_seconds,
    settle_p50_seconds,
    settle_p95_seconds,
    settle_p99_seconds,
    paid,
    delivered,
    fee,
    fee_share,
    delivered_per_paid
   FROM accounting.scorecard_between((now() - '30 days'::interval), now()) scorecard_between(service, scope, network, asset_symbol, asset, settlement_network, settlement_asset_symbol, settlement_asset, deposits, settled, steps_known, steps_reported, completeness, sampled, webhooks, duplicates, duplicates_share, delivery_p50_seconds, delivery_p95_seconds, delivery_p99_seconds, settle_p50_seconds, settle_p95_seconds, settle_p99_seconds, paid, delivered, fee, fee_share, delivered_per_paid);
view accounting.tie_out as
 SELECT t.network,
    t.address,
    b.owner_kind,
    b.owner_id,
    a.symbol AS asset_symbol,
    t.asset,
    t.height,
    t.checked_at,
    accounting.in_units(t.in_transit, a.decimals) AS in_transit,
    t.in_transit AS in_transit_base,
    accounting.in_units(t.out_of_transit, a.decimals) AS out_of_transit,
    t.out_of_transit AS out_of_transit_base,
    accounting.in_units(t.not_booked, a.decimals) AS not_booked,
    t.not_booked AS not_booked_base,
    accounting.in_units(t.outside, a.decimals) AS outside,
    t.outside AS outside_base,
    accounting.in_units(t.opening, a.decimals) AS opening,
    t.opening AS opening_base,
    accounting.in_units(t.moved, a.decimals) AS moved,
    t.moved AS moved_base,
    accounting.in_units(t.unexplained, a.decimals) AS unexplained,
    t.unexplained AS unexplained_base,
    accounting.in_units(t.balance, a.decimals) AS balance,
    t.balance AS balance_base,
    accounting.in_units(t.difference, a.decimals) AS difference,
    t.difference AS difference_base
   FROM ((ledger_tie t
     JOIN asset a ON ((a.key = t.asset)))
     LEFT JOIN address_book b ON (((b.network = t.network) AND (b.address = t.address) AND (b.role = 'deposit'::text))));
view accounting.valuation as
 SELECT t.journal_id,
    t.leg,
    j.kind,
    j.deposit_id,
    t.debit,
    t.credit,
    a.symbol AS asset_symbol,
    t.asset,
    accounting.in_units(t.amount, a.decimals) AS amount,
    t.amount AS amount_base,
    j.event_at,
    j.recorded_at,
    rule.currency,
    p.price,
    p.price_at,
    p.source AS price_source,
    (accounting.in_units(t.amount, a.decimals) * p.price) AS value
   FROM ((((ledger_transfer t
     JOIN ledger_journal j ON ((j.id = t.journal_id)))
     JOIN asset a ON ((a.key = t.asset)))
     CROSS JOIN active_valuation rule)
     LEFT JOIN LATERAL accounting.price_at(t.asset, j.event_at) p(currency, price, price_at, source) ON (true));
view accounting.value_at_risk as
 SELECT s.service,
    a.symbol AS asset_symbol,
    s.asset,
    s.severity,
    count(*) AS transfers,
    accounting.in_units(sum(s.loss), a.decimals) AS amount,
    sum(s.loss) AS amount_base,
    sum(s.loss_value) AS value,
    max(s.currency) AS currency
   FROM (( SELECT open_mismatch.loss_asset AS asset,
            open_mismatch.stake,
            max(open_mismatch.loss_amount) AS loss,
            max(open_mismatch.loss_value) AS loss_value,
            max(open_mismatch.currency) AS currency,
            (ARRAY['severe'::text, 'warning'::text, 'info'::text])[min(array_position(ARRAY['severe'::text, 'warning'::text, 'info'::text], open_mismatch.severity))] AS severity,
            (array_agg(open_mismatch.service ORDER BY open_mismatch.loss_amount DESC, open_mismatch.id))[1] AS service
           FROM open_mismatch
          WHERE (open_mismatch.loss_asset IS NOT NULL)
          GROUP BY open_mismatch.loss_asset, open_mismatch.stake) s
     JOIN asset a ON ((a.key = s.asset)))
  GROUP BY s.service, a.symbol, a.decimals, s.asset, s.severity;
view accounting.valued_balances as
 SELECT account,
    asset_symbol,
    asset,
    sum(amount) AS balance,
    sum(amount_base) AS balance_base,
    currency,
    sum(value) AS value
   FROM accounting.valued_entries
  GROUP BY account, asset_symbol, asset, currency;
view accounting.valued_entries as
 SELECT v.id AS valuation_id,
    v.journal_id,
    COALESCE(j.kind, v.kind) AS kind,
    j.deposit_id,
    l.account,
    a.symbol AS asset_symbol,
    l.asset,
    accounting.in_units(l.units, a.decimals) AS amount,
    l.units AS amount_base,
    v.currency,
    accounting.in_units(l.value, v.places) AS value,
    l.price,
    l.price_at,
    l.price_source,
    v.event_at,
    v.period,
    v.valued_at
   FROM (((valued_line l
     JOIN valued_journal v ON ((v.id = l.valued_id)))
     LEFT JOIN ledger_journal j ON ((j.id = v.journal_id)))
     LEFT JOIN asset a ON ((a.key = l.asset)));
view accounting.wallet_balances as
 SELECT b.service,
    b.wallet,
    a.symbol AS asset_symbol,
    b.asset,
    accounting.in_units(b.balance, a.decimals) AS balance,
    b.balance AS balance_base,
    accounting.in_units(b.books, a.decimals) AS books,
    b.books AS books_base,
    accounting.in_units(b.leaving, a.decimals) AS leaving,
    accounting.in_units(b.arriving, a.decimals) AS arriving,
    accounting.in_units((LEAST(((b.balance - b.books) + b.leaving), (0)::numeric) + GREATEST(((b.balance - b.books) - b.arriving), (0)::numeric)), a.decimals) AS difference,
    b.read_at,
    b.differs_since
   FROM (wallet_balance b
     LEFT JOIN asset a ON ((a.key = b.asset)));
view accounting.withdrawals as
 SELECT w.service,
    w.wallet,
    w.withdrawal_id,
    w.status,
    w.state,
    a.symbol AS asset_symbol,
    w.asset,
    accounting.in_units(w.amount, a.decimals) AS amount,
    w.amount AS amount_base,
    w.network,
    w.recipient,
    w.tx,
    w.transfer,
    w.occurred_at,
    j.id AS journal_id
   FROM ((withdrawal w
     LEFT JOIN asset a ON ((a.key = w.asset)))
     LEFT JOIN LATERAL ( SELECT booked.id
           FROM ledger_journal booked
          WHERE ((booked.transfer = w.transfer) AND (booked.kind = 'withdrawal'::text) AND (NOT (EXISTS ( SELECT
                   FROM ledger_journal taken
                  WHERE (taken.reverses = booked.id)))))
         LIMIT 1) j ON (true));
view public.active_sender as
 SELECT jsonb_array_elements_text(((rules)::jsonb -> 'senders'::text)) AS name
   FROM ( SELECT rule_set.rules
           FROM rule_set
          ORDER BY rule_set.id DESC
         LIMIT 1) active;
view public.active_valuation as
 SELECT id,
    currency,
    max_age,
    own_accounts,
    method,
    pool
   FROM ( SELECT valuation_rule.id,
            valuation_rule.currency,
            valuation_rule.max_age,
            valuation_rule.own_accounts,
            valuation_rule.method,
            valuation_rule.pool,
            valuation_rule.since
           FROM valuation_rule
          ORDER BY valuation_rule.id DESC
         LIMIT 1) rule
  WHERE (currency IS NOT NULL);
view public.chain_gap as
 WITH level AS MATERIALIZED (
         SELECT DISTINCT c.network,
            c.watched,
            range_agg(c.heights) OVER (PARTITION BY c.network ORDER BY c.watched DESC) AS heights
           FROM (chain_coverage c
             JOIN chain_network n ON (((n.network = c.network) AND (c.assets @> n.assets))))
        ), missing AS (
         SELECT w.network,
            w.from_height,
            min(w.number) AS watched_from,
            max(w.number) AS watched_to,
            count(*) AS addresses,
            (int8multirange(int8range(w.from_height, (n.height + 1))) - COALESCE(level.heights, '{}'::int8multirange)) AS heights
           FROM ((chain_watch w
             JOIN chain_network n ON (((n.network = w.network) AND (n.height >= w.from_height))))
             LEFT JOIN LATERAL ( SELECT nearest.watched,
                    nearest.heights
                   FROM level nearest
                  WHERE ((nearest.network = w.network) AND (nearest.watched >= w.number))
                  ORDER BY nearest.watched
                 LIMIT 1) level ON (true))
          GROUP BY w.network, w.from_height, n.height, level.watched, level.heights
        )
 SELECT missing.network,
    missing.watched_from,
    missing.watched_to,
    missing.addresses,
    missing.from_height,
    missing.heights,
    chain_gap_since.since
   FROM (missing
     LEFT JOIN chain_gap_since USING (network, watched_from))
  WHERE (NOT isempty(missing.heights));
view public.deposit_hour_counted as
 SELECT date_trunc('hour'::text, COALESCE(deposited_at, LEAST(webhook_at, api_at)), 'UTC'::text) AS hour,
    service,
    COALESCE(asset, ''::text) AS asset,
    COALESCE(settlement_asset, ''::text) AS settlement_asset,
    matrix,
    count(*) AS deposits,
    count(settled_at) AS settled,
    sum(steps_known) AS steps_known,
    sum(steps_reported) AS steps_reported,
    COALESCE(sum(amount) FILTER (WHERE (settled_at IS NOT NULL)), (0)::numeric) AS paid,
    COALESCE(sum(settlement_amount) FILTER (WHERE (settled_at IS NOT NULL)), (0)::numeric) AS delivered,
    COALESCE(sum(fee_amount) FILTER (WHERE (settled_at IS NOT NULL)), (0)::numeric) AS fee,
    COALESCE(sum((settlement_amount + fee_amount)) FILTER (WHERE (settled_at IS NOT NULL)), (0)::numeric) AS before_fee
   FROM deposit
  WHERE ((merged_into IS NULL) AND (state <> 'ignored'::text) AND (COALESCE(deposited_at, webhook_at, api_at) IS NOT NULL))
  GROUP BY (date_trunc('hour'::text, COALESCE(deposited_at, LEAST(webhook_at, api_at)), 'UTC'::text)), service, COALESCE(asset, ''::text), COALESCE(settlement_asset, ''::text), matrix;
view public.deposit_report as
 SELECT d.id,
    d.service,
    d.service_id,
    d.state,
    d.owner_kind,
    d.owner_id,
    d.network,
    d.address,
    a.symbol AS asset_symbol,
    d.asset,
    accounting.in_units(d.amount, a.decimals) AS amount,
    d.amount AS amount_base,
    d.tx,
    d.settlement_network,
    d.settlement_address,
    s.symbol AS settlement_asset_symbol,
    d.settlement_asset,
    accounting.in_units(d.settlement_amount, s.decimals) AS settlement_amount,
    d.settlement_amount AS settlement_amount_base,
    d.settlement_tx,
    accounting.in_units(d.fee_amount, s.decimals) AS fee,
    d.fee_amount AS fee_base,
    d.deposited_at,
    d.final_at,
    d.settled_at,
    d.reconciled_at
   FROM ((deposit d
     LEFT JOIN asset a ON ((a.key = d.asset)))
     LEFT JOIN asset s ON ((s.key = d.settlement_asset)))
  WHERE (d.merged_into IS NULL);
view public.ledger_balance as
 SELECT account,
    asset,
    sum(amount) AS balance
   FROM ledger_entry
  GROUP BY account, asset;
view public.ledger_entry as
 SELECT ledger_transfer.journal_id,
    ledger_transfer.leg,
    ledger_transfer.debit AS account,
    ledger_transfer.asset,
    ledger_transfer.amount,
    ledger_transfer.event_at,
    ledger_transfer.recorded_at,
    ledger_transfer.period
   FROM ledger_transfer
UNION ALL
 SELECT ledger_transfer.journal_id,
    ledger_transfer.leg,
    ledger_transfer.credit AS account,
    ledger_transfer.asset,
    (- ledger_transfer.amount) AS amount,
    ledger_transfer.event_at,
    ledger_transfer.recorded_at,
    ledger_transfer.period
   FROM ledger_transfer;
view public.ledger_tie as
 WITH booked AS (
         SELECT t.transfer,
            t.asset,
            sum(t.amount) FILTER (WHERE (t.kind = 'deposit'::text)) AS came_in,
                CASE
                    WHEN (sum(t.amount) FILTER (WHERE (t.kind = 'deposit'::text)) <> (0)::numeric) THEN sum(t.amount)
                    ELSE NULL::numeric
                END AS in_transit
           FROM ledger_transit t
          WHERE (t.transfer IS NOT NULL)
          GROUP BY t.transfer, t.asset
        ), waiting AS (
         SELECT DISTINCT s.transfer
           FROM (inbox_pending i
             JOIN chain_transfer s ON ((s.inbox_id = i.inbox_id)))
        ), seen AS (
         SELECT DISTINCT ON (s.transfer) s.transfer,
            s.network,
            s.address,
            s.asset,
            s.amount,
            s.height,
            (s.stage = 'final'::text) AS is_final
           FROM chain_transfer s
          WHERE ((s.role = 'deposit'::text) AND (s.stage = ANY (ARRAY['final'::text, 'orphaned'::text])))
          ORDER BY s.transfer, s.inbox_id DESC
        ), payment AS (
         SELECT COALESCE(s.network, split_part(b.asset, '/'::text, 1)) AS network,
            s.address,
            COALESCE(s.asset, b.asset) AS asset,
                CASE
                    WHEN s.is_final THEN s.amount
                    ELSE (0)::numeric
                END AS held,
            s.height,
            (w.transfer IS NOT NULL) AS is_waiting,
            COALESCE(b.came_in, (0)::numeric) AS came_in,
            COALESCE(b.in_transit, (0)::numeric) AS in_transit,
            ((b.transfer IS NOT NULL) AND (s.transfer IS NULL)) AS is_unseen
           FROM ((seen s
             FULL JOIN booked b ON (((b.transfer = s.transfer) AND (b.asset = s.asset))))
             LEFT JOIN waiting w ON ((w.transfer = s.transfer)))
        ), placed AS (
         SELECT p.network,
            p.address,
            p.asset,
            p.held,
            p.height,
            p.is_waiting,
            p.came_in,
            p.in_transit,
            p.is_unseen,
                CASE
                    WHEN ((p.address IS NULL) OR (b.address IS NULL)) THEN 'nowhere'::text
                    WHEN ((p.held > (0)::numeric) AND (NOT ((p.height > b.opening_height) AND (p.height <= b.height)))) THEN 'outside'::text
                    WHEN ((p.came_in = (0)::numeric) OR p.is_waiting) THEN 'not_booked'::text
                    ELSE 'tied'::text
                END AS heading
           FROM (payment p
             LEFT JOIN balance_point b ON (((b.network = p.network) AND (b.address = p.address) AND (b.asset = p.asset))))
        ), address AS (
         SELECT placed.network,
            placed.address,
            placed.asset,
            sum(placed.in_transit) AS in_transit,
            sum((placed.came_in - placed.in_transit)) AS out_of_transit,
            COALESCE(sum((placed.held - placed.came_in)) FILTER (WHERE (placed.heading = 'not_booked'::text)), (0)::numeric) AS not_booked,
            (- COALESCE(sum(placed.came_in) FILTER (WHERE (placed.heading = 'outside'::text)), (0)::numeric)) AS outside,
            COALESCE(sum(placed.came_in) FILTER (WHERE placed.is_unseen), (0)::numeric) AS unseen
           FROM placed
          GROUP BY placed.network, placed.address, placed.asset
        ), explained AS (
         SELECT network,
            address,
            asset,
            p.height,
            p.balance,
            p.checked_at,
            p.opening,
            COALESCE(a.in_transit, (0)::numeric) AS in_transit,
            COALESCE(a.out_of_transit, (0)::numeric) AS out_of_transit,
            COALESCE(a.not_booked, (0)::numeric) AS not_booked,
            COALESCE(a.outside, (0)::numeric) AS outside,
            COALESCE(a.unseen, (0)::numeric) AS unseen,
            COALESCE(( SELECT sum(m.change) AS sum
                   FROM chain_movement m
                  WHERE (((m.network = p.network) AND (m.address = p.address) AND (m.asset = p.asset)) AND (m.height > p.opening_height) AND (m.height <= p.height))), (0)::numeric) AS moved,
            COALESCE(( SELECT sum(d.change) AS sum
                   FROM balance_difference d
                  WHERE ((d.network = p.network) AND (d.address = p.address) AND (d.asset = p.asset))), (0)::numeric) AS unexplained
           FROM (address a
             FULL JOIN balance_point p USING (network, address, asset))
        )
 SELECT network,
    address,
    asset,
    height,
    checked_at,
    in_transit,
    out_of_transit,
    not_booked,
    outside,
    opening,
    moved,
    unexplained,
    balance,
        CASE
            WHEN (height IS NOT NULL) THEN (balance - ((((((in_transit + out_of_transit) + not_booked) + outside) + opening) + moved) + unexplained))
            WHEN (unseen <> (0)::numeric) THEN (- unseen)
            ELSE NULL::numeric
        END AS difference
   FROM explained;
view public.ledger_transit as
 SELECT j.id AS journal_id,
    COALESCE(o.kind, j.kind) AS kind,
    (j.reverses IS NOT NULL) AS is_reversal,
    j.deposit_id,
    j.transfer,
    j.event_at,
    j.recorded_at,
    t.asset,
        CASE
            WHEN (t.debit ~~ 'assets:in\_transit:%'::text) THEN t.debit
            ELSE t.credit
        END AS account,
        CASE
            WHEN (t.debit ~~ 'assets:in\_transit:%'::text) THEN t.credit
            ELSE t.debit
        END AS contra,
        CASE
            WHEN (t.debit ~~ 'assets:in\_transit:%'::text) THEN t.amount
            ELSE (- t.amount)
        END AS amount
   FROM ((ledger_transfer t
     JOIN ledger_journal j ON ((j.id = t.journal_id)))
     LEFT JOIN ledger_journal o ON ((o.id = j.reverses)))
  WHERE ((t.debit ~~ 'assets:in\_transit:%'::text) <> (t.credit ~~ 'assets:in\_transit:%'::text));
view public.mismatch_loss as
 SELECT m.id,
    m.subject,
    m.kind,
    m.service,
    m.severity,
    m.deposit_id,
    m.group_id,
    m.network,
    m.asset,
    m.value,
    m.detail,
    m.opened_at,
    m.cleared_at,
    m.cleared_how,
    m.assigned_to,
    m.snoozed_until,
    m.snooze_ends_with,
    m.resolved_at,
    m.resolved_by,
    m.resolved_reason,
    m.loss_asset,
    m.loss_amount,
    m.loss_whole,
    rule.currency,
    accounting.in_units(m.loss_amount, a.decimals) AS loss,
    a.symbol AS loss_asset_symbol,
    round((m.loss_amount / m.loss_whole), 6) AS loss_share,
        CASE
            WHEN (p.price IS NOT NULL) THEN (accounting.in_units(m.loss_amount, a.decimals) * p.price)
            ELSE NULL::numeric
        END AS loss_value
   FROM (((mismatch m
     LEFT JOIN asset a ON ((a.key = m.loss_asset)))
     LEFT JOIN active_valuation rule ON ((m.loss_asset IS NOT NULL)))
     LEFT JOIN LATERAL accounting.price_at(m.loss_asset, m.opened_at) p(currency, price, price_at, source) ON (true));
view public.open_mismatch as
 SELECT m.id,
    m.subject,
    m.kind,
    m.service,
    m.severity,
    m.deposit_id,
    m.network,
    m.asset,
    m.value,
    m.detail,
    m.opened_at,
    m.assigned_to,
    m.snoozed_until,
    COALESCE(d.transfer, ( SELECT min(o.transfer) AS min
           FROM deposit o
          WHERE ((o.tx = d.tx) AND (o.network = d.network) AND (o.address = d.address) AND (o.asset = d.asset))), "substring"(m.subject, '^transfer/(.*)$'::text), m.subject) AS stake,
    m.loss_asset,
    m.loss_amount,
    m.loss_share,
    m.loss_value,
    m.currency
   FROM (mismatch_loss m
     LEFT JOIN deposit d ON ((d.id = m.deposit_id)))
  WHERE ((m.cleared_at IS NULL) AND (m.resolved_at IS NULL));
view public.possible_match as
 SELECT pair.mismatch_id,
    pair.group_id,
    pair.deposit_id,
    pair.network,
    pair.asset,
    pair.amount,
    pair.role,
    pair.transfer,
    pair.address,
    pair.open_id,
    pair.difference,
    pair.open_network,
    pair.open_address,
    pair.open_asset,
    pair.open_amount,
    pair.open_tx,
    d.service_id,
    d.group_id AS open_group_id
   FROM (( SELECT u.mismatch_id,
            u.group_id,
            u.deposit_id,
            u.network,
            u.asset,
            u.amount,
            u.role,
            u.transfer,
            u.address,
            d_1.id AS open_id,
            (0)::numeric AS difference,
            d_1.network AS open_network,
            d_1.address AS open_address,
            d_1.asset AS open_asset,
            d_1.amount AS open_amount,
            d_1.tx AS open_tx
           FROM (unnamed_transfer u
             JOIN deposit d_1 ON (((u.role = 'deposit'::text) AND (d_1.state = 'observed'::text) AND (d_1.transfer IS NULL) AND (d_1.network = u.network) AND (d_1.address = u.address) AND (d_1.asset = u.asset) AND (d_1.amount = u.amount))))
        UNION ALL
         SELECT u.mismatch_id,
            u.group_id,
            u.deposit_id,
            u.network,
            u.asset,
            u.amount,
            u.role,
            u.transfer,
            u.address,
            d_1.id,
            abs((COALESCE(d_1.settlement_amount, d_1.amount) - u.amount)) AS abs,
            o.forward_network,
            o.forward_recipient,
            COALESCE(d_1.settlement_asset, ( SELECT asset.key
                   FROM asset
                  WHERE ((asset.network = o.forward_network) AND (asset.symbol = o.forward_asset)))) AS "coalesce",
            d_1.settlement_amount,
            d_1.settlement_tx
           FROM ((unnamed_transfer u
             JOIN owner o ON (((u.role = 'recipient'::text) AND (o.forward_network = u.network) AND (o.forward_recipient = u.address))))
             JOIN deposit d_1 ON (((d_1.owner_kind = o.kind) AND (d_1.owner_id = o.id) AND (d_1.state = ANY (ARRAY['confirmed'::text, 'settling'::text])) AND (d_1.final_at IS NOT NULL) AND (d_1.settled_at IS NULL) AND (((d_1.matrix -> 'settlement'::text) ->> 'chain'::text) = 'absent'::text) AND ((d_1.settlement_amount IS NULL) OR ((d_1.settlement_amount >= (u.amount / (2)::numeric)) AND (d_1.settlement_amount <= (u.amount * (2)::numeric)))))))) pair
     JOIN deposit d ON ((d.id = pair.open_id)))
  WHERE ((d.service_id IS NOT NULL) AND (d.merged_into IS NULL) AND (d.group_id <> pair.group_id) AND (NOT (EXISTS ( SELECT
           FROM proposal p
          WHERE ((p.service_id = d.service_id) AND (p.role = pair.role) AND (p.transfer = pair.transfer) AND (p.state = 'rejected'::text))))));
view public.unnamed_transfer as
 SELECT m.id AS mismatch_id,
    m.group_id,
    m.deposit_id,
    m.network,
    m.asset,
    m.value AS amount,
        CASE m.kind
            WHEN 'unreported'::text THEN 'deposit'::text
            ELSE 'recipient'::text
        END AS role,
        CASE m.kind
            WHEN 'unreported'::text THEN d.transfer
            ELSE substr(m.subject, (length('transfer/'::text) + 1))
        END AS transfer,
        CASE m.kind
            WHEN 'unreported'::text THEN d.address
            ELSE (m.detail ->> 'recipient'::text)
        END AS address
   FROM (mismatch m
     LEFT JOIN deposit d ON ((d.id = m.deposit_id)))
  WHERE ((m.cleared_at IS NULL) AND (m.resolved_at IS NULL) AND (m.kind = ANY (ARRAY['unreported'::text, 'settlement_unreported'::text])));

CREATE OR REPLACE FUNCTION accounting.in_transit_at(as_of timestamp with time zone, recorded_as_of timestamp with time zone DEFAULT now())
 RETURNS TABLE(deposit_id bigint, service text, service_id text, state text, owner_kind text, owner_id text, network text, asset_symbol text, asset text, amount numeric, amount_base numeric, since timestamp with time zone, age interval, bucket text, from_age interval)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  with opening as (
    select ledger_opened_at(recorded_as_of) as at
  ), held as (
    -- A payment from before the opening is part of that, and so is what leaves transit of it.
    select paid.deposit_id, t.account, t.asset, sum(t.amount) as amount,
      case when paid.deposit_id is null then greatest(min(t.event_at), o.at) else min(t.event_at) end as first_at
    from opening o cross join ledger_transit t
      left join deposit d on d.id = t.deposit_id
      cross join lateral (select case when d.deposited_at <= o.at then null else t.deposit_id end as deposit_id) as paid
    where t.event_at <= as_of and t.recorded_at <= recorded_as_of
    group by paid.deposit_id, t.account, t.asset, o.at having sum(t.amount) <> 0
  ), aging as (
    -- Since the payment that stands: one that came back in another block is booked anew, of its time.
    select h.*, coalesce((
      select min(j.event_at) from ledger_journal j
      where j.deposit_id = h.deposit_id and j.kind = 'deposit'
        and j.event_at <= as_of and j.recorded_at <= recorded_as_of
        and not exists (
          select from ledger_journal r where r.reverses = j.id and r.recorded_at <= recorded_as_of
        )
    ), h.first_at) as since
    from held h
  )
  select h.deposit_id, d.service, d.service_id, d.state, d.owner_kind, d.owner_id, split_part(h.account, ':', 3), a.symbol, h.asset,
    accounting.in_units(h.amount, a.decimals), h.amount, h.since, as_of - h.since, aged.bucket, aged.from_age
  from aging h
    join asset a on a.key = h.asset
    left join deposit d on d.id = h.deposit_id
    cross join lateral (
      select b.bucket, b.from_age from (values
        ('< 1 h', interval '0'), ('< 24 h', interval '1 hour'), ('< 3 d', interval '24 hours'),
        ('< 7 d', interval '3 days'), ('< 30 d', interval '7 days'), ('older', interval '30 days')
      ) as b (bucket, from_age)
      where b.from_age <= greatest(as_of - h.since, interval '0') order by b.from_age desc limit 1
    ) as aged
$function$
;
CREATE OR REPLACE FUNCTION accounting.in_units(amount numeric, decimals smallint)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (amount * (('1e-'::text || decimals))::numeric)
;
CREATE OR REPLACE FUNCTION accounting.price_at(asset_key text, moment timestamp with time zone)
 RETURNS TABLE(currency text, price numeric, price_at timestamp with time zone, source text)
 LANGUAGE sql
 STABLE
AS $function$
  select p.currency, p.price, p.at, p.source
  from public.price p
  -- Not joined, so that the index of prices gives the newest one first.
  where p.asset = asset_key and p.currency = (select rule.currency from public.active_valuation rule)
    and p.at <= moment and p.at >= moment - (select rule.max_age from public.active_valuation rule)
  order by p.at desc, p.id desc limit 1
$function$
;
CREATE OR REPLACE FUNCTION accounting.scorecard_between(from_at timestamp with time zone, to_at timestamp with time zone)
 RETURNS TABLE(service text, scope text, network text, asset_symbol text, asset text, settlement_network text, settlement_asset_symbol text, settlement_asset text, deposits bigint, settled bigint, steps_known bigint, steps_reported bigint, completeness numeric, sampled bigint, webhooks bigint, duplicates bigint, duplicates_share numeric, delivery_p50_seconds double precision, delivery_p95_seconds double precision, delivery_p99_seconds double precision, settle_p50_seconds double precision, settle_p95_seconds double precision, settle_p99_seconds double precision, paid numeric, delivered numeric, fee numeric, fee_share numeric, delivered_per_paid numeric)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  with within as (
    select * from deposit_hour where hour >= date_trunc('hour', from_at, 'UTC') and hour < to_at
  ), done as (
    select service, grouping(asset) as is_all, coalesce(asset, '') as asset, coalesce(settlement_asset, '') as settlement_asset,
      sum(deposits)::bigint as deposits, sum(settled)::bigint as settled, sum(steps_known)::bigint as steps_known,
      sum(steps_reported)::bigint as steps_reported, nullif(sum(paid), 0) as paid, nullif(sum(delivered), 0) as delivered,
      case when sum(before_fee) <> 0 then sum(fee) end as fee, nullif(sum(before_fee), 0) as before_fee
    from within group by grouping sets ((service), (service, asset, settlement_asset)) having sum(deposits) > 0
  ), share as (
    select hour, ceil(sum(deposits) * least(1, 20000 / nullif(sum(sum(deposits)) over (), 0)))::bigint as deposits
    from within group by hour having sum(deposits) > 0
  ), sample as (
    select d.service, d.group_id, d.service_id, coalesce(d.asset, '') as asset, coalesce(d.settlement_asset, '') as settlement_asset,
      d.settled_at - d.final_at as took
    from share cross join lateral (
      select * from deposit d
      where d.merged_into is null and d.state <> 'ignored'
        and coalesce(d.deposited_at, least(d.webhook_at, d.api_at)) >= share.hour
        and coalesce(d.deposited_at, least(d.webhook_at, d.api_at)) < share.hour + interval '1 hour'
      order by coalesce(d.deposited_at, least(d.webhook_at, d.api_at)) limit share.deposits
    ) as d
  ), paced as (
    select service, grouping(asset) as is_all, coalesce(asset, '') as asset, coalesce(settlement_asset, '') as settlement_asset,
      count(*) as sampled, percentile_cont(array[0.5, 0.95, 0.99]) within group (
        order by greatest(extract(epoch from took), 0)::float8
      ) filter (where took is not null) as settle
    from sample group by grouping sets ((service), (service, asset, settlement_asset))
  ), told as (
    select s.service, grouping(s.asset) as is_all, coalesce(s.asset, '') as asset, coalesce(s.settlement_asset, '') as settlement_asset,
      count(*) as webhooks, sum(coalesce(r.count, 0))::bigint as duplicates,
      percentile_cont(array[0.5, 0.95, 0.99]) within group (
        order by greatest(extract(epoch from i.received_at - (e.observation ->> 'occurredAt')::timestamptz), 0)::float8
      ) as lag
    from sample s
      join evidence e on e.group_id = s.group_id and e.observation ->> 'serviceId' = s.service_id
      join inbox i on i.id = e.inbox_id and i.source = 'webhook'
      left join webhook_repeat r on r.inbox_id = i.id
    group by grouping sets ((s.service), (s.service, s.asset, s.settlement_asset))
  )
  select done.service, case when done.is_all = 1 then 'service' else 'route' end,
    a.network, a.symbol, nullif(done.asset, ''), s.network, s.symbol, nullif(done.settlement_asset, ''),
    done.deposits, done.settled, done.steps_known, done.steps_reported,
    done.steps_reported::numeric / nullif(done.steps_known, 0),
    coalesce(paced.sampled, 0), coalesce(told.webhooks, 0), coalesce(told.duplicates, 0),
    told.duplicates::numeric / told.webhooks,
    told.lag[1], told.lag[2], told.lag[3], paced.settle[1], paced.settle[2], paced.settle[3],
    accounting.in_units(done.paid, a.decimals), accounting.in_units(done.delivered, s.decimals),
    accounting.in_units(done.fee, s.decimals),
    case when s.key is not null then done.fee / done.before_fee end,
    accounting.in_units(done.delivered, s.decimals) / nullif(accounting.in_units(done.paid, a.decimals), 0)
  from done
    left join paced using (service, is_all, asset, settlement_asset)
    left join told using (service, is_all, asset, settlement_asset)
    left join asset a on a.key = done.asset
    left join asset s on s.key = done.settlement_asset
  order by done.service <> 'default', done.service, done.is_all desc, a.network, a.symbol, s.network, s.symbol
$function$
;
CREATE OR REPLACE FUNCTION accounting.statement(owner text, from_at timestamp with time zone, to_at timestamp with time zone, entries_max bigint DEFAULT NULL::bigint)
 RETURNS TABLE(line text, event_at timestamp with time zone, recorded_at timestamp with time zone, journal_id bigint, kind text, deposit_id bigint, account text, asset_symbol text, asset text, amount numeric, balance numeric, amount_base numeric, balance_base numeric)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  with own as materialized (
    select account, asset, public.ledger_side_of(account) as side from public.ledger_accounts_of(owner)
  ), ends as (
    select 0 as part, 'opening' as line, from_at as at
    union all
    select 2, 'closing', to_at
  ), entries as (
    select o.account, o.asset, e.event_at, e.recorded_at, e.journal_id, e.leg, o.side * e.amount as amount
    from own o cross join lateral public.ledger_entries_of(o.account, o.asset, from_at, to_at, entries_max) e
  ), turnovers as materialized (
    select ends.part, t.account, t.asset, t.debit - t.credit as amount
    from ends cross join lateral public.ledger_turnover(ends.at - interval '1 microsecond', 'infinity',
      coalesce((select array_agg(distinct account) from own), '{}')) t
  ), balances as (
    select ends.part, ends.line, ends.at, o.account, o.asset, o.side * coalesce(t.amount, 0) as balance
    from ends cross join own o
      left join turnovers t on t.part = ends.part and t.account = o.account and t.asset = o.asset
  ), lines as (
    select part, line, at as event_at, null::timestamptz as recorded_at, null::bigint as journal_id, null::int as leg,
      account, asset, null::numeric as amount, balance
    from balances
    union all
    select 1, 'entry', e.event_at, e.recorded_at, e.journal_id, e.leg, account, asset, e.amount,
      o.balance + sum(e.amount) over (
        partition by account, asset order by e.event_at, e.journal_id, e.leg rows unbounded preceding
      )
    from entries e join balances o using (account, asset) where o.part = 0
  ), shown as (
    select *, bool_or(part = 1 or balance <> 0) over (partition by account, asset) as is_used,
      bool_or(part = 1 or balance <> 0) over () as is_any
    from lines
  )
  select r.line, r.event_at, r.recorded_at, r.journal_id, j.kind, j.deposit_id, r.account, a.symbol, r.asset,
    accounting.in_units(r.amount, a.decimals), accounting.in_units(r.balance, a.decimals), r.amount, r.balance
  from shown r join public.asset a on a.key = r.asset left join public.ledger_journal j on j.id = r.journal_id
  where r.is_used or not r.is_any
  order by r.account collate "C", r.asset collate "C", r.part, r.event_at, r.journal_id, r.leg
$function$
;
CREATE OR REPLACE FUNCTION accounting.trial_balance(as_of timestamp with time zone, recorded_as_of timestamp with time zone DEFAULT now())
 RETURNS TABLE(account text, code text, asset_symbol text, asset text, debit numeric, credit numeric, balance numeric, debit_base numeric, credit_base numeric, balance_base numeric)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  select t.account, public.ledger_account_code(t.account), a.symbol, t.asset,
    accounting.in_units(t.debit, a.decimals), accounting.in_units(t.credit, a.decimals),
    accounting.in_units(t.debit - t.credit, a.decimals), t.debit, t.credit, t.debit - t.credit
  from public.ledger_turnover(as_of, recorded_as_of) t join public.asset a on a.key = t.asset
  order by t.asset collate "C", t.account collate "C"
$function$
;
CREATE OR REPLACE FUNCTION accounting.trial_balance_of(month date, recorded_as_of timestamp with time zone DEFAULT now())
 RETURNS TABLE(account text, code text, asset_symbol text, asset text, debit numeric, credit numeric, balance numeric, debit_base numeric, credit_base numeric, balance_base numeric)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
  with bound as (
    select date_trunc('month', month::timestamp)::date as last,
      (date_trunc('month', month::timestamp) + interval '1 month') at time zone 'UTC' as ends
  ), late as (
    select side.account, t.asset, side.debit, side.credit
    from bound
      join public.ledger_journal j on j.period > bound.last and j.period <> public.ledger_month(j.event_at)
        and j.event_at < bound.ends and j.recorded_at <= recorded_as_of
      join public.ledger_transfer t on t.journal_id = j.id and t.recorded_at = j.recorded_at
      cross join lateral (values (t.debit, -t.amount, 0), (t.credit, 0, -t.amount)) as side (account, debit, credit)
  ), happened as (
    select t.account, t.asset, t.debit, t.credit
    from bound cross join lateral public.ledger_turnover(bound.ends - interval '1 microsecond', recorded_as_of) t
  ), turnover as (
    select part.account, part.asset, sum(part.debit) as debit, sum(part.credit) as credit
    from (select * from happened union all select * from late) as part
    group by 1, 2 having sum(part.debit) <> 0 or sum(part.credit) <> 0
  )
  select t.account, public.ledger_account_code(t.account), a.symbol, t.asset,
    accounting.in_units(t.debit, a.decimals), accounting.in_units(t.credit, a.decimals),
    accounting.in_units(t.debit - t.credit, a.decimals), t.debit, t.credit, t.debit - t.credit
  from turnover t join public.asset a on a.key = t.asset
  order by t.asset collate "C", t.account collate "C"
$function$
;
CREATE OR REPLACE FUNCTION public.check_decided()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$
;
CREATE OR REPLACE FUNCTION public.check_manual_journal()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  original constant public.ledger_journal := (select j from public.ledger_journal j where j.id = new.reverses);
begin
  if coalesce(original.kind, new.kind) in ('manual', 'opening')
    and not exists (select from public.manual_journal where journal_id = new.id and approved_by is not null)
  then
    raise exception 'journal %: a journal by hand needs a reason and two people', new.id;
  end if;
  if new.kind = 'reversal' and (new.deposit_id, new.transfer) is distinct from (original.deposit_id, original.transfer) then
    raise exception 'journal % concerns another deposit or payment than journal %, which it reverses', new.id, new.reverses;
  end if;
  return null;
end
$function$
;
CREATE OR REPLACE FUNCTION public.check_manual_reason()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (
    select from added join public.ledger_journal journal on journal.id = added.journal_id
    where journal.xmin <> pg_current_xact_id()::xid
  ) then
    raise exception 'manual_journal: the journal was already booked';
  end if;
  return null;
end
$function$
;
CREATE OR REPLACE FUNCTION public.check_opening_lots()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (
    select from added join public.ledger_journal journal on journal.id = added.journal_id
    where journal.kind <> 'opening' or journal.xmin <> pg_current_xact_id()::xid
  ) then
    raise exception 'opening_lot: the journal is no opening, or was already booked';
  end if;
  return null;
end
$function$
;
CREATE OR REPLACE FUNCTION public.check_period_change(of_period date, change text, force boolean)
 RETURNS void
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  month text := to_char(of_period, 'YYYY-MM');
  closed date := (select max(period) from ledger_period where state = 'closed');
  softly date := (select max(period) from ledger_period where state <> 'open');
  booked date := (select ledger_month(min(event_at)) from ledger_transfer);
  due date := greatest(booked, (case change when 'closed' then closed else softly end + interval '1 month')::date);
  severe integer;
begin
  if of_period >= ledger_month(now()) then
    raise '% is not over', month using errcode = 'DP001', hint = 'months are closed once they are over, in UTC';
  end if;
  if change = 'reopened' then
    if softly is null or of_period > softly then
      raise '% is open', month using errcode = 'DP001', hint = 'see what is closed with "bin/depositd ledger periods"';
    elsif of_period < softly then
      raise '% is closed too', to_char(softly, 'YYYY-MM')
        using errcode = 'DP001', hint = 'reopen it first: months are reopened from the last one backwards';
    end if;
    return;
  end if;
  if of_period <= closed then
    raise '% is closed already', month using errcode = 'DP001', hint = 'see it with "bin/depositd ledger periods"';
  elsif change = 'soft_closed' and of_period <= softly then
    raise '% is soft-closed already', month
      using errcode = 'DP001', hint = 'close it finally without --soft, or reopen it';
  elsif due < of_period then
    raise '% is not closed yet', to_char(due, 'YYYY-MM')
      using errcode = 'DP001', hint = 'close it first: months are closed in order';
  end if;
  severe := severe_mismatches_until(of_period);
  if change = 'closed' and severe > 0 and not force then
    raise 'severe mismatches up to the end of % are open: %', month, severe
      using errcode = 'DP001', hint = 'resolve those that "bin/depositd mismatches list --severity severe" shows, '
        'or close the month anyway with --force, --reason and a second person';
  end if;
end
$function$
;
CREATE OR REPLACE FUNCTION public.check_reversal()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.reverses is null then
    return null;
  end if;
  if exists (select 1 from public.ledger_journal where id = new.reverses and kind = 'reversal') then
    raise exception 'journal % is a reversal and cannot be reversed', new.reverses;
  end if;
  if exists (select from public.ledger_journal where id = new.reverses and xmin = pg_current_xact_id()::xid) then
    raise exception 'journal % is not booked yet and cannot be reversed', new.reverses;
  end if;
  if exists (
    (select leg, debit, credit, asset, amount from public.ledger_transfer where journal_id = new.reverses
      except select leg, credit, debit, asset, amount from public.ledger_transfer where journal_id = new.id)
    union all
    (select leg, credit, debit, asset, amount from public.ledger_transfer where journal_id = new.id
      except select leg, debit, credit, asset, amount from public.ledger_transfer where journal_id = new.reverses)
  ) then
    raise exception 'journal % does not mirror journal %, which it reverses', new.id, new.reverses;
  end if;
  return null;
end
$function$
;
CREATE OR REPLACE FUNCTION public.check_valued_journals()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  first bigint;
  last bigint;
  valued bigint;
begin
  select min(journal_id), max(journal_id), count(journal_id) into first, last, valued from added;
  if exists (select from added where currency <> (select currency from valued_journal order by id limit 1)) then
    raise exception 'valued_journal: the books are valued in another currency';
  elsif valued > 0 and valued <> (
    select count(*) from ledger_journal
    where id <= last and id > coalesce((select max(journal_id) from valued_journal where journal_id < first), 0)
  ) then
    raise exception 'valued_journal: journals are valued in order, without a gap';
  end if;
  return null;
end
$function$
;
CREATE OR REPLACE FUNCTION public.check_valued_lines()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if exists (
    select from added join valued_journal j on j.id = added.valued_id where j.xmin <> pg_current_xact_id()::xid
  ) then
    raise exception '%: the journal is already valued', tg_table_name;
  end if;
  return null;
end
$function$
;
CREATE OR REPLACE FUNCTION public.check_valued_sums()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if exists (select from added group by valued_id having sum(value) <> 0) then
    raise exception 'valued_line: the values of a journal do not sum to zero';
  end if;
  return null;
end
$function$
;
CREATE OR REPLACE FUNCTION public.check_write_off()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if not public.is_write_off_decided(new.id, new.transfer) then
    raise exception 'journal %: no person decided to write off % like this', new.id, new.transfer;
  end if;
  return null;
end
$function$
;
CREATE OR REPLACE FUNCTION public.count_deposits()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  sign constant integer := tg_argv[0];
begin
  insert into public.deposit_count
  select state, service, coalesce(network, ''), sign * count(*) from changed where merged_into is null group by 1, 2, 3;
  insert into public.deposit_hour
  select date_trunc('hour', coalesce(deposited_at, least(webhook_at, api_at)), 'UTC'), service, coalesce(asset, ''),
    coalesce(settlement_asset, ''), matrix, sign * count(*), sign * count(settled_at), sign * sum(steps_known),
    sign * sum(steps_reported), sign * coalesce(sum(amount) filter (where settled_at is not null), 0),
    sign * coalesce(sum(settlement_amount) filter (where settled_at is not null), 0),
    sign * coalesce(sum(fee_amount) filter (where settled_at is not null), 0),
    sign * coalesce(sum(settlement_amount + fee_amount) filter (where settled_at is not null), 0)
  from changed
  where merged_into is null and state <> 'ignored' and coalesce(deposited_at, webhook_at, api_at) is not null
  group by 1, 2, 3, 4, 5;
  return null;
end
$function$
;
CREATE OR REPLACE FUNCTION public.fits_pattern(account text, pattern text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (account ~~ replace(regexp_replace(pattern, '([\\%_])'::text, '\\\1'::text, 'g'::text), '*'::text, '%'::text))
;
CREATE OR REPLACE FUNCTION public.guard_ledger_transfers(part regclass)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  execute format('create trigger ledger_transfer_append_only before update or delete or truncate on %s
    for each statement execute function public.refuse_change()', part);
  execute format('create trigger ledger_transfer_late after insert on %s
    referencing new table as added for each statement execute function public.refuse_late_transfer()', part);
end
$function$
;
CREATE OR REPLACE FUNCTION public.has_people()
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select exists (select from decision where kind = 'person')
$function$
;
CREATE OR REPLACE FUNCTION public.hold_decimals()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if exists (select from public.deposit where old.key in (asset, settlement_asset)) then
    raise exception 'asset %: stored amounts have % decimals', old.key, old.decimals
      using errcode = 'restrict_violation';
  end if;
  return new;
end
$function$
;
CREATE OR REPLACE FUNCTION public.hold_observation()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if old.inbox_id = new.inbox_id and current_setting('depositd.restoring', true) = 'on'
    and pg_has_role((select relowner from pg_class where oid = tg_relid), 'member')
  then
    return new;
  end if;
  raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op)
    using errcode = 'insufficient_privilege', hint = 'The owner of the table corrects it by a restore of the books.';
end
$function$
;
CREATE OR REPLACE FUNCTION public.hold_period_event()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
begin
  if new.action <> 'reopened' then
    select cut.last_journal, cut.cut_at into new.last_journal, new.cut_at from ledger_cut() as cut;
  end if;
  lock table ledger_period in share row exclusive mode;
  perform check_period_change(new.period, new.action, new.forced);
  new.at := clock_timestamp();
  new.severe_open := severe_mismatches_until(new.period);
  new.forced := new.forced and new.severe_open > 0;
  insert into ledger_period (period, state)
    values (new.period, case new.action when 'reopened' then 'open' else new.action end)
    on conflict (period) do update set state = excluded.state;
  return new;
end
$function$
;
CREATE OR REPLACE FUNCTION public.is_write_off_decided(booked_id bigint, written_off text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select exists (
    select from (
      select said -> 'verdict' as verdict
      from public.chain_transfer payment
        join public.evidence on evidence.inbox_id = payment.inbox_id
        join public.evidence decided on decided.group_id = evidence.group_id
        join public.inbox on inbox.id = decided.inbox_id and inbox.source = 'person'
        cross join lateral (select convert_from(inbox.body, 'UTF8')::jsonb as said) as body
      where payment.transfer = written_off
        and said #>> '{verdict,kind}' in ('write_off', 'write_off_withdrawn')
        and concat_ws('/', said ->> 'network', said ->> 'tx', said ->> 'index') = written_off
      order by said ->> 'receivedAt' desc, inbox.source_key collate "C" desc limit 1
    ) as newest
    where verdict ->> 'kind' = 'write_off' and not exists (
      select from public.ledger_transfer t
      where t.journal_id = booked_id and (t.leg > 1 or t.asset <> verdict ->> 'asset'
        or t.amount > (verdict ->> 'amount')::numeric
        or (verdict ->> 'account' <> 'owner' and t.debit <> verdict ->> 'account')))
  ) and not exists (
    select from public.ledger_journal other
    where other.transfer = written_off and other.kind = 'write_off' and other.id <> booked_id
      and not exists (select from public.ledger_journal undone where undone.reverses = other.id)
  )
$function$
;
CREATE OR REPLACE FUNCTION public.keep_account_labels(patterns text[], codes text[], names text[])
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET lock_timeout TO '30s'
AS $function$
begin
  lock table public.account_label in share row exclusive mode;
  if not exists (
    select from (
      select l.place, l.pattern, l.code, l.name
      from unnest(patterns, codes, names) with ordinality as l (pattern, code, name, place)
    ) as wanted
    full join public.account_label kept using (place)
    where (wanted.pattern, wanted.code, wanted.name) is distinct from (kept.pattern, kept.code, kept.name)
  ) then
    return false;
  end if;
  delete from public.account_label;
  insert into public.account_label (place, pattern, code, name)
    select l.place, l.pattern, l.code, l.name
    from unnest(patterns, codes, names) with ordinality as l (pattern, code, name, place);
  return true;
end
$function$
;
CREATE OR REPLACE FUNCTION public.known_change(of_network text, of_address text, of_asset text, above bigint, up_to bigint)
 RETURNS numeric
 LANGUAGE sql
 STABLE
AS $function$
  select
    (select coalesce(sum(amount), 0) from (
      select distinct on (s.transfer) s.amount from chain_transfer s
      where s.network = of_network and s.address = of_address and s.asset = of_asset
        and s.height > above and s.height <= up_to and s.stage = 'final' and s.role = 'deposit'
        and not exists (
          select 1 from chain_transfer gone
          where gone.transfer = s.transfer and gone.stage = 'orphaned' and gone.inbox_id > s.inbox_id
        )
      order by s.transfer, s.inbox_id desc
    ) as received)
    + (select coalesce(sum(m.change), 0) from chain_movement m
      where m.network = of_network and m.address = of_address and m.asset = of_asset
        and m.height > above and m.height <= up_to)
$function$
;
CREATE OR REPLACE FUNCTION public.ledger_account_code(account text)
 RETURNS text
 LANGUAGE sql
 STABLE
RETURN (SELECT label.code FROM account_label label WHERE fits_pattern(ledger_account_code.account, label.pattern) ORDER BY label.place LIMIT 1)
;
CREATE OR REPLACE FUNCTION public.ledger_accounts_of(owner text)
 RETURNS TABLE(account text, asset text)
 LANGUAGE sql
 STABLE
AS $function$
  select a.id, a.asset from public.ledger_account a
  where a.id = owner
    or (a.id ~ '^(liabilities|income|equity):'
      and (right(a.id, length(owner) + 9) = ':channel:' || owner
        or right(a.id, length(owner) + 15) = ':stable_wallet:' || owner
        or (owner ~ '^(channel|stable_wallet):' and right(a.id, length(owner) + 1) = ':' || owner)))
$function$
;
CREATE OR REPLACE FUNCTION public.ledger_cut(OUT last_journal bigint, OUT cut_at timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
begin
  lock table public.ledger_journal in share mode;
  select case when is_called then last_value else 0 end into last_journal from public.ledger_journal_id_seq;
  cut_at := clock_timestamp();
  update public.ledger_last_cut c set last_journal = ledger_cut.last_journal, cut_at = ledger_cut.cut_at;
end
$function$
;
CREATE OR REPLACE FUNCTION public.ledger_entries_of(of_account text, of_asset text, from_at timestamp with time zone, to_at timestamp with time zone, entries_max bigint)
 RETURNS SETOF ledger_entry
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
begin
  return query
  (select t.journal_id, t.leg, t.debit, t.asset, t.amount, t.event_at, t.recorded_at, t.period
    from public.ledger_transfer t
    where t.debit = of_account and t.asset = of_asset and t.event_at >= from_at and t.event_at < to_at
    order by t.event_at, t.journal_id, t.leg limit entries_max)
  union all
  (select t.journal_id, t.leg, t.credit, t.asset, -t.amount, t.event_at, t.recorded_at, t.period
    from public.ledger_transfer t
    where t.credit = of_account and t.asset = of_asset and t.event_at >= from_at and t.event_at < to_at
    order by t.event_at, t.journal_id, t.leg limit entries_max)
  order by 6, 1, 2 limit entries_max;
end
$function$
;
CREATE OR REPLACE FUNCTION public.ledger_month(at timestamp with time zone)
 RETURNS date
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (date_trunc('month'::text, (at AT TIME ZONE 'UTC'::text)))::date
;
CREATE OR REPLACE FUNCTION public.ledger_month_turnover_of(month date)
 RETURNS TABLE(event date, account text, asset text, debit numeric, credit numeric)
 LANGUAGE sql
 STABLE
AS $function$
  select date_trunc('month', s.event::timestamp)::date, s.account, s.asset, sum(s.debit), sum(s.credit)
  from public.ledger_snapshot s
  where s.span = 'day' and s.recorded >= month and s.recorded < (month + interval '1 month')::date
  group by 1, 2, 3
$function$
;
CREATE OR REPLACE FUNCTION public.ledger_opened_at(recorded_as_of timestamp with time zone DEFAULT 'infinity'::timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
RETURN (SELECT max(j.event_at) AS max FROM ledger_journal j WHERE ((j.kind = 'opening'::text) AND (j.recorded_at <= ledger_opened_at.recorded_as_of) AND (NOT (EXISTS (SELECT FROM ledger_journal r WHERE ((r.reverses = j.id) AND (r.recorded_at <= ledger_opened_at.recorded_as_of)))))))
;
CREATE OR REPLACE FUNCTION public.ledger_period_for(event_at timestamp with time zone, is_adjustment boolean DEFAULT false)
 RETURNS date
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return greatest(public.ledger_month(event_at), (
    select (max(p.period) + interval '1 month')::date from public.ledger_period p
    where p.state = 'closed' or (p.state = 'soft_closed' and not is_adjustment)
  ));
end
$function$
;
CREATE OR REPLACE FUNCTION public.ledger_side_of(account text)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (split_part(account, ':'::text, 1) = ANY (ARRAY['assets'::text, 'expenses'::text])) THEN 1 ELSE '-1'::integer END
;
CREATE OR REPLACE FUNCTION public.ledger_snapshot_faults(day date)
 RETURNS TABLE(span text, event date, account text, asset text, kept numeric[], found numeric[])
 LANGUAGE sql
 STABLE
AS $function$
  with kept as (
    select span, event, account, asset, array[debit, credit] as sums from public.ledger_snapshot s
    where (s.span = 'day' and s.recorded = day)
      or (s.span = 'month' and extract(day from day + 1) = 1 and s.recorded = date_trunc('month', day::timestamp)::date)
  ), found as (
    select 'day' as span, event, account, asset, array[debit, credit] as sums from public.ledger_turnover_of(day)
    union all
    select 'month', event, account, asset, array[debit, credit]
    from public.ledger_month_turnover_of(date_trunc('month', day::timestamp)::date)
    where extract(day from day + 1) = 1
  )
  select span, event, account, asset, kept.sums, found.sums
  from kept full join found using (span, event, account, asset)
  where kept.sums is distinct from found.sums
$function$
;
CREATE OR REPLACE FUNCTION public.ledger_turnover(as_of timestamp with time zone, recorded_as_of timestamp with time zone, only_accounts text[] DEFAULT NULL::text[])
 RETURNS TABLE(account text, asset text, debit numeric, credit numeric)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
#variable_conflict use_column
declare
  days_over constant date := coalesce((select max(recorded) + 1 from public.ledger_snapshot_day), '-infinity');
  event_day constant date := (as_of at time zone 'UTC')::date;
  recorded_day constant date := least(days_over, (recorded_as_of at time zone 'UTC')::date);
  event_month constant date := date_trunc('month', event_day::timestamp)::date;
  recorded_month constant date := date_trunc('month', recorded_day::timestamp)::date;
  event_from constant timestamptz := event_day::timestamp at time zone 'UTC';
  recorded_from constant timestamptz := recorded_day::timestamp at time zone 'UTC';
begin
  return query
  select part.account, part.asset, sum(part.debit), sum(part.credit)
  from (
    select s.account, s.asset, s.debit, s.credit from public.ledger_snapshot s
    where s.span = 'month' and s.recorded < recorded_month and s.event < event_month
      and (only_accounts is null or s.account = any(only_accounts))
    union all
    select s.account, s.asset, s.debit, s.credit from public.ledger_snapshot s
    where s.span = 'day' and s.recorded < recorded_month and s.event >= event_month and s.event < event_day
      and (only_accounts is null or s.account = any(only_accounts))
    union all
    select s.account, s.asset, s.debit, s.credit from public.ledger_snapshot s
    where s.span = 'day' and s.recorded >= recorded_month and s.recorded < recorded_day and s.event < event_day
      and (only_accounts is null or s.account = any(only_accounts))
    union all
    select side.account, t.asset, side.debit, side.credit
    from (
      select t.debit, t.credit, t.asset, sum(t.amount) as amount from (
        select t.debit, t.credit, t.asset, t.amount from public.ledger_transfer t
        where t.recorded_at >= recorded_from and t.recorded_at <= recorded_as_of and t.event_at <= as_of
          and (only_accounts is null or t.debit = any(only_accounts) or t.credit = any(only_accounts))
        union all
        select t.debit, t.credit, t.asset, t.amount from public.ledger_transfer t
        where t.event_at >= event_from and t.event_at <= as_of and t.recorded_at < recorded_from
          and (only_accounts is null or t.debit = any(only_accounts) or t.credit = any(only_accounts))
      ) as t group by 1, 2, 3
    ) as t
      cross join lateral (values (t.debit, t.amount, 0), (t.credit, 0, t.amount)) as side (account, debit, credit)
  ) as part
  where only_accounts is null or part.account = any(only_accounts)
  group by part.account, part.asset;
end
$function$
;
CREATE OR REPLACE FUNCTION public.ledger_turnover_of(day date)
 RETURNS TABLE(event date, account text, asset text, debit numeric, credit numeric)
 LANGUAGE sql
 STABLE
AS $function$
  select (e.event_at at time zone 'UTC')::date, e.account, e.asset,
    coalesce(sum(e.amount) filter (where e.amount > 0), 0), coalesce(-sum(e.amount) filter (where e.amount < 0), 0)
  from public.ledger_entry e
  where e.recorded_at >= day::timestamp at time zone 'UTC' and e.recorded_at < (day + 1)::timestamp at time zone 'UTC'
  group by 1, 2, 3
$function$
;
CREATE OR REPLACE FUNCTION public.make_ledger_partitions(months_ahead integer DEFAULT 3)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
declare
  month timestamp;
  part text;
  made integer := 0;
begin
  perform pg_advisory_xact_lock(hashtext('make_ledger_partitions'));
  for month in
    select generate_series(date_trunc('month', now() at time zone 'UTC'),
      date_trunc('month', now() at time zone 'UTC') + make_interval(months => least(months_ahead, 24)), '1 month')
  loop
    part := 'ledger_transfer_' || to_char(month, 'YYYYMM');
    continue when to_regclass('public.' || part) is not null;
    continue when exists (
      select from public.ledger_transfer_default
      where recorded_at >= month at time zone 'UTC' and recorded_at < (month + interval '1 month') at time zone 'UTC'
    );
    execute format('create table public.%I (like public.ledger_transfer including defaults including constraints)', part);
    execute format('alter table public.ledger_transfer attach partition public.%I for values from (%L) to (%L)',
      part, month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC');
    perform public.guard_ledger_transfers(format('public.%I', part)::regclass);
    made := made + 1;
  end loop;
  return made;
end
$function$
;
CREATE OR REPLACE FUNCTION public.make_ledger_snapshot()
 RETURNS date
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  newest constant timestamptz := (select c.cut_at from public.ledger_last_cut c);
  over constant date := ((least(newest, now()) - interval '10 minutes') at time zone 'UTC')::date;
  this date;
begin
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception 'make_ledger_snapshot: this isolation level does not see the newest bookings'
      using errcode = 'invalid_transaction_state';
  end if;
  perform pg_advisory_xact_lock(hashtext('make_ledger_snapshot'));
  select max(recorded) + 1 into this from public.ledger_snapshot_day;
  if this is null then
    select (min(recorded_at) at time zone 'UTC')::date into this from public.ledger_journal;
  end if;
  if this is null or this >= over then
    return null;
  end if;
  insert into public.ledger_snapshot_day (recorded, cut_at) values (this, newest);
  insert into public.ledger_snapshot (span, recorded, event, account, asset, debit, credit)
    select 'day', this, event, account, asset, debit, credit from public.ledger_turnover_of(this);
  if extract(day from this + 1) = 1 then
    insert into public.ledger_snapshot (span, recorded, event, account, asset, debit, credit)
      select 'month', date_trunc('month', this::timestamp)::date, event, account, asset, debit, credit
      from public.ledger_month_turnover_of(date_trunc('month', this::timestamp)::date);
  end if;
  return this;
end
$function$
;
CREATE OR REPLACE FUNCTION public.may_be_lost(loss numeric, severity text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
RETURN ((loss IS NOT NULL) OR (severity = 'severe'::text))
;
CREATE OR REPLACE FUNCTION public.outsiders_of(of_network text, deposit_address text, recipients text[])
 RETURNS text[]
 LANGUAGE sql
 STABLE
RETURN (SELECT array_agg(one.one) AS array_agg FROM unnest(outsiders_of.recipients) one(one) WHERE ((NOT (EXISTS (SELECT FROM active_sender WHERE (active_sender.name = ((outsiders_of.of_network || '/'::text) || one.one))))) AND (EXISTS (SELECT FROM ((SELECT (rule_set.rules)::jsonb AS rules FROM rule_set ORDER BY rule_set.id DESC LIMIT 1) active JOIN address_book ON (((address_book.network = outsiders_of.of_network) AND (address_book.address = outsiders_of.deposit_address) AND (address_book.role = 'deposit'::text)))) WHERE ((active.rules -> 'checkedOutflows'::text) ? ((CASE WHEN (address_book.owner_id ~~ '%/%'::text) THEN split_part(address_book.owner_id, '/'::text, 1) ELSE 'default'::text END || '/'::text) || outsiders_of.of_network))))))
;
CREATE OR REPLACE FUNCTION public.refuse_bad_journal()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  -- One by one, as in refuse_late_transfer. Only a journal that lost its transfers is reversed without any.
  if exists (
    select from added where (
      select t.leg from public.ledger_transfer t
      where t.journal_id = added.id and t.recorded_at = added.recorded_at limit 1
    ) is null and (
      added.reverses is null
      or (select t.leg from public.ledger_transfer t where t.journal_id = added.reverses limit 1) is not null
    )
  ) then
    raise exception 'ledger_journal: it has no transfers' using hint = 'Write journal and transfers in one statement.';
  elsif exists (select from added where event_at > clock_timestamp() + interval '15 minutes') then
    raise exception 'ledger_journal: its time is more than 15 minutes ahead'
      using hint = 'Check the clock of the database, and the nodes of the network.';
  end if;
  return null;
end
$function$
;
CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op)
    using hint = 'Post a reversal, or append another observation.';
end
$function$
;
CREATE OR REPLACE FUNCTION public.refuse_event_gap()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  wrong bigint;
begin
  select sequence into wrong from added
  where (sequence > 1 and (select e.sequence from public.event e where e.sequence = added.sequence - 1) is null)
    or (previous is not null and (
      select e.sequence from public.event e where e.deposit_id = added.deposit_id and e.sequence = added.previous) is null)
  limit 1;
  if found then
    raise exception 'event % does not follow the events before it', wrong;
  end if;
  return null;
end
$function$
;
CREATE OR REPLACE FUNCTION public.refuse_late_balance()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (
    select 1 from added join public.ledger_period_event event on event.id = added.event_id
    where event.xmin <> pg_current_xact_id()::xid or event.action <> 'closed'
  ) then
    raise exception 'ledger_period_balance: the month is already closed with another trial balance';
  end if;
  return null;
end
$function$
;
CREATE OR REPLACE FUNCTION public.refuse_late_transfer()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  is_unknown boolean;
  is_late boolean;
  is_other boolean;
  takes_back boolean;
begin
  -- By its key, one by one: a plan is kept for long, and one that read all journals would be kept while they grow.
  select bool_or(journal.id is null), bool_or(journal.xmin <> pg_current_xact_id()::xid),
    bool_or(added.event_at <> journal.event_at or added.recorded_at <> journal.recorded_at
      or added.period <> journal.period),
    bool_or(journal.reverses is not null)
  into is_unknown, is_late, is_other, takes_back
  from added left join lateral (
    select j.id, j.xmin, j.event_at, j.recorded_at, j.period, j.reverses
    from public.ledger_journal j where j.id = added.journal_id limit 1
  ) as journal on true;
  if is_unknown then
    raise exception 'ledger_transfer: the journal does not exist'
      using errcode = 'foreign_key_violation', constraint = 'ledger_transfer_journal_id_fkey';
  elsif is_late then
    raise exception 'ledger_transfer: the journal is already booked; post a new one';
  elsif is_other then
    raise exception 'ledger_transfer: times and period differ from those of the journal';
  elsif exists (
    select from (select debit as id, asset from added union select credit, asset from added) as side
    where not exists (
      select from public.ledger_account a where a.id = side.id and a.asset = side.asset
    )
  ) then
    raise exception 'ledger_transfer: an account does not exist in that asset'
      using errcode = 'foreign_key_violation', constraint = 'ledger_transfer_debit_asset_fkey';
  elsif takes_back and exists (
    select from added
      join public.ledger_journal journal on journal.id = added.journal_id
      join public.ledger_journal original on original.id = journal.reverses
    where not exists (
      select from public.ledger_transfer t
      where t.journal_id = original.id and t.recorded_at = original.recorded_at and t.leg = added.leg
        and (t.debit, t.credit, t.asset, t.amount) = (added.credit, added.debit, added.asset, added.amount)
    )
  ) then
    raise exception 'ledger_transfer: a leg does not mirror a leg of the reversed journal';
  end if;
  return null;
end
$function$
;
CREATE OR REPLACE FUNCTION public.refuse_old_snapshot()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception '%: this isolation level does not see which months are closed', tg_table_name
      using errcode = 'invalid_transaction_state', hint = 'Use read committed.';
  end if;
  return null;
end
$function$
;
CREATE OR REPLACE FUNCTION public.refuse_shut_period()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (
    select from added
      left join public.ledger_journal original on original.id = added.reverses
      cross join lateral (
        select greatest(added.event_at, original.period::timestamp at time zone 'UTC') as event_at
      ) as earliest
    where (added.period <> public.ledger_month(earliest.event_at)
        or exists (select from public.ledger_period p where p.period >= added.period and p.state <> 'open'))
      and added.period <> public.ledger_period_for(earliest.event_at)
      and not (added.kind in ('manual', 'opening', 'reversal') and added.transfer is null
        and added.period = public.ledger_period_for(earliest.event_at, true))
  ) then
    raise exception 'ledger_journal: the period is closed, or does not fit the time'
      using errcode = 'serialization_failure', hint = 'Book the journal again: it then goes to the next open period.';
  elsif exists (
    select from added
    where recorded_at < (select (max(recorded) + 1)::timestamp at time zone 'UTC' from public.ledger_snapshot_day)
  ) then
    raise exception 'ledger_journal: the day of recording already has a snapshot'
      using errcode = 'object_not_in_prerequisite_state', hint = 'Correct the clock of the database.';
  end if;
  return null;
end
$function$
;
CREATE OR REPLACE FUNCTION public.refuse_undecided()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if pg_has_role(current_user, (select relowner from pg_catalog.pg_class where oid = tg_relid), 'usage')
    or (new.decision_id is not null and pg_has_role(current_user, 'depositd_decider', 'member')) then
    return new;
  end if;
  raise exception '%: an entry of a person needs a signed decision', tg_table_name
    using errcode = 'insufficient_privilege';
end
$function$
;
CREATE OR REPLACE FUNCTION public.refuse_unsigned()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if pg_has_role(current_user, (select relowner from pg_catalog.pg_class where oid = tg_relid), 'usage') then
    return new;
  end if;
  raise exception '%: only the owner of the database may decide without signatures', tg_table_name
    using errcode = 'insufficient_privilege';
end
$function$
;
CREATE OR REPLACE FUNCTION public.refuse_unsigned_loss()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if pg_has_role(current_user, (select relowner from pg_catalog.pg_class where oid = tg_relid), 'usage')
    or pg_has_role(current_user, 'depositd_decider', 'member') then
    return new;
  end if;
  raise exception 'mismatch %: it may be a loss, and resolving it needs a signed decision', new.id
    using errcode = 'insufficient_privilege';
end
$function$
;
CREATE OR REPLACE FUNCTION public.severe_mismatches_until(of_period date)
 RETURNS integer
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
RETURN (SELECT (count(*))::integer AS count FROM (open_mismatch m LEFT JOIN deposit d ON ((d.id = m.deposit_id))) WHERE ((m.severity = 'severe'::text) AND (COALESCE(d.deposited_at, m.opened_at) < ((severe_mismatches_until.of_period + '1 mon'::interval) AT TIME ZONE 'UTC'::text))))
;

CREATE CONSTRAINT TRIGGER inbox_decided AFTER INSERT ON public.inbox NOT DEFERRABLE INITIALLY IMMEDIATE FOR EACH ROW WHEN ((new.source = 'person'::text)) EXECUTE FUNCTION check_decided();
CREATE CONSTRAINT TRIGGER ledger_journal_by_hand AFTER INSERT ON public.ledger_journal DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.kind = ANY (ARRAY['manual'::text, 'opening'::text, 'reversal'::text]))) EXECUTE FUNCTION check_manual_journal();
CREATE CONSTRAINT TRIGGER ledger_journal_reversal AFTER INSERT ON public.ledger_journal DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.reverses IS NOT NULL)) EXECUTE FUNCTION check_reversal();
CREATE CONSTRAINT TRIGGER ledger_journal_write_off AFTER INSERT ON public.ledger_journal DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.kind = 'write_off'::text)) EXECUTE FUNCTION check_write_off();
CREATE TRIGGER access_event_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.access_event FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER address_book_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.address_book FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER address_book_decided BEFORE INSERT ON public.address_book FOR EACH ROW WHEN ((new.added_by <> 'depositd'::text)) EXECUTE FUNCTION refuse_undecided();
CREATE TRIGGER address_end_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.address_end FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER address_end_decided BEFORE INSERT ON public.address_end FOR EACH ROW EXECUTE FUNCTION refuse_undecided();
CREATE TRIGGER api_token_revoked BEFORE UPDATE ON public.api_token FOR EACH ROW WHEN ((old.revoked_at IS NOT NULL)) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER asset_holds_decimals BEFORE UPDATE ON public.asset FOR EACH ROW WHEN ((old.decimals <> new.decimals)) EXECUTE FUNCTION hold_decimals();
CREATE TRIGGER chain_movement_unaltered BEFORE UPDATE OR TRUNCATE ON public.chain_movement FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER chain_transfer_stands BEFORE UPDATE ON public.chain_transfer FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER checkpoint_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.checkpoint FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER cosignature_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.cosignature FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER credit_safety_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.credit_safety FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER decision_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.decision FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER decision_event_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.decision_event FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER deposit_added AFTER INSERT ON public.deposit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_deposits('1');
CREATE TRIGGER deposit_replaced AFTER UPDATE ON public.deposit REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_deposits('-1');
CREATE TRIGGER deposit_replacement AFTER UPDATE ON public.deposit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_deposits('1');
CREATE TRIGGER disposal_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.disposal FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER disposal_late AFTER INSERT ON public.disposal REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION check_valued_lines();
CREATE TRIGGER event_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.event FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER event_without_gap AFTER INSERT ON public.event REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_event_gap();
CREATE TRIGGER evidence_stands BEFORE UPDATE ON public.evidence FOR EACH ROW WHEN (((old.inbox_id IS DISTINCT FROM new.inbox_id) OR (old.observation IS DISTINCT FROM new.observation))) EXECUTE FUNCTION hold_observation();
CREATE TRIGGER inbox_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.inbox FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_account_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.ledger_account FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_journal_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.ledger_journal FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_journal_fresh BEFORE INSERT ON public.ledger_journal FOR EACH STATEMENT EXECUTE FUNCTION refuse_old_snapshot();
CREATE TRIGGER ledger_journal_period AFTER INSERT ON public.ledger_journal REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_shut_period();
CREATE TRIGGER ledger_journal_whole AFTER INSERT ON public.ledger_journal REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_bad_journal();
CREATE TRIGGER ledger_period_balance_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.ledger_period_balance FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_period_balance_late AFTER INSERT ON public.ledger_period_balance REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_late_balance();
CREATE TRIGGER ledger_period_event_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.ledger_period_event FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_period_event_fresh BEFORE INSERT ON public.ledger_period_event FOR EACH STATEMENT EXECUTE FUNCTION refuse_old_snapshot();
CREATE TRIGGER ledger_period_event_held BEFORE INSERT ON public.ledger_period_event FOR EACH ROW EXECUTE FUNCTION hold_period_event();
CREATE TRIGGER ledger_period_event_signed BEFORE INSERT ON public.ledger_period_event FOR EACH ROW WHEN ((new.decision_id IS NULL)) EXECUTE FUNCTION refuse_unsigned();
CREATE TRIGGER ledger_snapshot_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.ledger_snapshot FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_snapshot_day_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.ledger_snapshot_day FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_transfer_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.ledger_transfer FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_transfer_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.ledger_transfer_default FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_transfer_late AFTER INSERT ON public.ledger_transfer REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_late_transfer();
CREATE TRIGGER ledger_transfer_late AFTER INSERT ON public.ledger_transfer_default REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_late_transfer();
CREATE TRIGGER manual_journal_about AFTER INSERT ON public.manual_journal REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION check_manual_reason();
CREATE TRIGGER manual_journal_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.manual_journal FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER manual_journal_signed BEFORE INSERT ON public.manual_journal FOR EACH ROW WHEN ((new.decision_id IS NULL)) EXECUTE FUNCTION refuse_unsigned();
CREATE TRIGGER mismatch_attachment_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.mismatch_attachment FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER mismatch_event_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.mismatch_event FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER mismatch_event_decided BEFORE INSERT ON public.mismatch_event FOR EACH ROW WHEN ((new.decision_id IS NOT NULL)) EXECUTE FUNCTION refuse_undecided();
CREATE TRIGGER mismatch_resolved BEFORE UPDATE OF resolved_at ON public.mismatch FOR EACH ROW WHEN (((old.resolved_at IS NULL) AND (new.resolved_at IS NOT NULL) AND may_be_lost(new.loss_amount, new.severity))) EXECUTE FUNCTION refuse_unsigned_loss();
CREATE TRIGGER opening_lot_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.opening_lot FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER opening_lot_with_journal AFTER INSERT ON public.opening_lot REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION check_opening_lots();
CREATE TRIGGER owner_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.owner FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER owner_decided BEFORE INSERT ON public.owner FOR EACH ROW WHEN ((new.added_by <> 'depositd'::text)) EXECUTE FUNCTION refuse_undecided();
CREATE TRIGGER price_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.price FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER rule_set_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.rule_set FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER rule_set_decided BEFORE INSERT ON public.rule_set FOR EACH ROW WHEN (has_people()) EXECUTE FUNCTION refuse_undecided();
CREATE TRIGGER seal_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.seal FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER seal_node_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.seal_node FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER valuation_rule_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.valuation_rule FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER valued_journal_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.valued_journal FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER valued_journal_in_order AFTER INSERT ON public.valued_journal REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION check_valued_journals();
CREATE TRIGGER valued_line_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.valued_line FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER valued_line_balanced AFTER INSERT ON public.valued_line REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION check_valued_sums();
CREATE TRIGGER valued_line_late AFTER INSERT ON public.valued_line REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION check_valued_lines();
CREATE TRIGGER webhook_conflict_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.webhook_conflict FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

grant delete, insert on public.invitation to depositd_decider;
grant delete, insert, select on public.chain_movement to depositd_daemon;
grant delete, insert, select on public.deposit_count to depositd_daemon;
grant delete, insert, select on public.deposit_hour to depositd_daemon;
grant delete, insert, select on public.event_attempt to depositd_daemon;
grant delete, insert, select on public.event_pending to depositd_daemon;
grant delete, insert, select on public.quarantine to depositd_daemon;
grant delete, insert, select on public.saved_view to depositd_daemon;
grant delete, insert, select on public.session to depositd_daemon;
grant delete, insert, select, update on public.balance_difference to depositd_daemon;
grant delete, insert, select, update on public.balance_point to depositd_daemon;
grant delete, insert, select, update on public.canary_webhook to depositd_daemon;
grant delete, insert, select, update on public.chain_coverage to depositd_daemon;
grant delete, insert, select, update on public.chain_gap_since to depositd_daemon;
grant delete, insert, select, update on public.event_delivery to depositd_daemon;
grant delete, insert, select, update on public.event_endpoint_secret to depositd_daemon;
grant delete, insert, select, update on public.inbox_pending to depositd_daemon;
grant delete, insert, select, update on public.leg_search to depositd_daemon;
grant delete, insert, select, update on public.named_transaction to depositd_daemon;
grant delete, insert, select, update on public.notification to depositd_daemon;
grant delete, insert, select, update on public.notification_message to depositd_daemon;
grant delete, insert, select, update on public.value_lot to depositd_daemon;
grant delete, select on public.idempotency_key to depositd_operator;
grant insert on public.ledger_period_balance to depositd_decider;
grant insert on public.manual_journal to depositd_decider;
grant insert on public.mismatch_event to depositd_operator;
grant insert, select on public.address_book to depositd_daemon;
grant insert, select on public.asset to depositd_daemon;
grant insert, select on public.chain_transfer to depositd_daemon;
grant insert, select on public.checkpoint to depositd_daemon;
grant insert, select on public.cosignature to depositd_daemon;
grant insert, select on public.disposal to depositd_daemon;
grant insert, select on public.event to depositd_daemon;
grant insert, select on public.inbox to depositd_daemon;
grant insert, select on public.ledger_account to depositd_daemon;
grant insert, select on public.ledger_transfer to depositd_daemon;
grant insert, select on public.mismatch_event to depositd_daemon;
grant insert, select on public.owner to depositd_daemon;
grant insert, select on public.seal to depositd_daemon;
grant insert, select on public.seal_node to depositd_daemon;
grant insert, select on public.valued_line to depositd_daemon;
grant insert, select on public.webhook_conflict to depositd_daemon;
grant insert, select, update on public.api_record to depositd_daemon;
grant insert, select, update on public.canary to depositd_daemon;
grant insert, select, update on public.chain_network to depositd_daemon;
grant insert, select, update on public.chain_watch to depositd_daemon;
grant insert, select, update on public.deposit to depositd_daemon;
grant insert, select, update on public.event_endpoint to depositd_daemon;
grant insert, select, update on public.evidence to depositd_daemon;
grant insert, select, update on public.evidence_group to depositd_daemon;
grant insert, select, update on public.link_key to depositd_daemon;
grant insert, select, update on public.mismatch to depositd_daemon;
grant insert, select, update on public.proposal to depositd_daemon;
grant insert, select, update on public.stream to depositd_daemon;
grant insert, select, update on public.wallet_balance to depositd_daemon;
grant insert, select, update on public.webhook_repeat to depositd_daemon;
grant insert, select, update on public.withdrawal to depositd_daemon;
grant select on accounting.accounts to depositd_accountant;
grant select on accounting.accounts to depositd_backup;
grant select on accounting.accounts to depositd_daemon;
grant select on accounting.accounts to depositd_viewer;
grant select on accounting.address_book to depositd_accountant;
grant select on accounting.address_book to depositd_backup;
grant select on accounting.address_book to depositd_daemon;
grant select on accounting.address_book to depositd_viewer;
grant select on accounting.audit_log to depositd_accountant;
grant select on accounting.audit_log to depositd_auditor;
grant select on accounting.audit_log to depositd_backup;
grant select on accounting.audit_log to depositd_daemon;
grant select on accounting.balances to depositd_accountant;
grant select on accounting.balances to depositd_backup;
grant select on accounting.balances to depositd_daemon;
grant select on accounting.balances to depositd_viewer;
grant select on accounting.checkpoints to depositd_accountant;
grant select on accounting.checkpoints to depositd_backup;
grant select on accounting.checkpoints to depositd_daemon;
grant select on accounting.checkpoints to depositd_viewer;
grant select on accounting.conversion to depositd_accountant;
grant select on accounting.conversion to depositd_backup;
grant select on accounting.conversion to depositd_daemon;
grant select on accounting.conversion to depositd_viewer;
grant select on accounting.coverage to depositd_accountant;
grant select on accounting.coverage to depositd_backup;
grant select on accounting.coverage to depositd_daemon;
grant select on accounting.coverage to depositd_viewer;
grant select on accounting.coverage_gaps to depositd_accountant;
grant select on accounting.coverage_gaps to depositd_backup;
grant select on accounting.coverage_gaps to depositd_daemon;
grant select on accounting.coverage_gaps to depositd_viewer;
grant select on accounting.credit_safety to depositd_accountant;
grant select on accounting.credit_safety to depositd_backup;
grant select on accounting.credit_safety to depositd_daemon;
grant select on accounting.credit_safety to depositd_viewer;
grant select on accounting.daily_totals to depositd_accountant;
grant select on accounting.daily_totals to depositd_backup;
grant select on accounting.daily_totals to depositd_daemon;
grant select on accounting.daily_totals to depositd_viewer;
grant select on accounting.decisions to depositd_accountant;
grant select on accounting.decisions to depositd_backup;
grant select on accounting.decisions to depositd_daemon;
grant select on accounting.decisions to depositd_viewer;
grant select on accounting.deposits to depositd_accountant;
grant select on accounting.deposits to depositd_backup;
grant select on accounting.deposits to depositd_daemon;
grant select on accounting.deposits to depositd_viewer;
grant select on accounting.disposals to depositd_accountant;
grant select on accounting.disposals to depositd_backup;
grant select on accounting.disposals to depositd_daemon;
grant select on accounting.disposals to depositd_viewer;
grant select on accounting.entries to depositd_accountant;
grant select on accounting.entries to depositd_backup;
grant select on accounting.entries to depositd_daemon;
grant select on accounting.entries to depositd_viewer;
grant select on accounting.fees to depositd_accountant;
grant select on accounting.fees to depositd_backup;
grant select on accounting.fees to depositd_daemon;
grant select on accounting.fees to depositd_viewer;
grant select on accounting.in_transit_age to depositd_accountant;
grant select on accounting.in_transit_age to depositd_backup;
grant select on accounting.in_transit_age to depositd_daemon;
grant select on accounting.in_transit_age to depositd_viewer;
grant select on accounting.journal to depositd_accountant;
grant select on accounting.journal to depositd_backup;
grant select on accounting.journal to depositd_daemon;
grant select on accounting.journal to depositd_viewer;
grant select on accounting.late_items to depositd_accountant;
grant select on accounting.late_items to depositd_backup;
grant select on accounting.late_items to depositd_daemon;
grant select on accounting.late_items to depositd_viewer;
grant select on accounting.manual_journals to depositd_accountant;
grant select on accounting.manual_journals to depositd_backup;
grant select on accounting.manual_journals to depositd_daemon;
grant select on accounting.manual_journals to depositd_viewer;
grant select on accounting.mismatch_ageing to depositd_accountant;
grant select on accounting.mismatch_ageing to depositd_backup;
grant select on accounting.mismatch_ageing to depositd_daemon;
grant select on accounting.mismatch_ageing to depositd_viewer;
grant select on accounting.mismatch_history to depositd_accountant;
grant select on accounting.mismatch_history to depositd_backup;
grant select on accounting.mismatch_history to depositd_daemon;
grant select on accounting.mismatch_history to depositd_viewer;
grant select on accounting.mismatches to depositd_accountant;
grant select on accounting.mismatches to depositd_backup;
grant select on accounting.mismatches to depositd_daemon;
grant select on accounting.mismatches to depositd_viewer;
grant select on accounting.open_conversions to depositd_accountant;
grant select on accounting.open_conversions to depositd_backup;
grant select on accounting.open_conversions to depositd_daemon;
grant select on accounting.open_conversions to depositd_viewer;
grant select on accounting.period_balances to depositd_accountant;
grant select on accounting.period_balances to depositd_backup;
grant select on accounting.period_balances to depositd_daemon;
grant select on accounting.period_balances to depositd_viewer;
grant select on accounting.period_history to depositd_accountant;
grant select on accounting.period_history to depositd_backup;
grant select on accounting.period_history to depositd_daemon;
grant select on accounting.period_history to depositd_viewer;
grant select on accounting.periods to depositd_accountant;
grant select on accounting.periods to depositd_backup;
grant select on accounting.periods to depositd_daemon;
grant select on accounting.periods to depositd_viewer;
grant select on accounting.prices to depositd_accountant;
grant select on accounting.prices to depositd_backup;
grant select on accounting.prices to depositd_daemon;
grant select on accounting.prices to depositd_viewer;
grant select on accounting.rule_sets to depositd_accountant;
grant select on accounting.rule_sets to depositd_backup;
grant select on accounting.rule_sets to depositd_daemon;
grant select on accounting.rule_sets to depositd_viewer;
grant select on accounting.scorecard to depositd_accountant;
grant select on accounting.scorecard to depositd_backup;
grant select on accounting.scorecard to depositd_daemon;
grant select on accounting.scorecard to depositd_viewer;
grant select on accounting.tie_out to depositd_accountant;
grant select on accounting.tie_out to depositd_backup;
grant select on accounting.tie_out to depositd_daemon;
grant select on accounting.tie_out to depositd_viewer;
grant select on accounting.valuation to depositd_accountant;
grant select on accounting.valuation to depositd_backup;
grant select on accounting.valuation to depositd_daemon;
grant select on accounting.valuation to depositd_viewer;
grant select on accounting.value_at_risk to depositd_accountant;
grant select on accounting.value_at_risk to depositd_backup;
grant select on accounting.value_at_risk to depositd_daemon;
grant select on accounting.value_at_risk to depositd_viewer;
grant select on accounting.valued_balances to depositd_accountant;
grant select on accounting.valued_balances to depositd_backup;
grant select on accounting.valued_balances to depositd_daemon;
grant select on accounting.valued_balances to depositd_viewer;
grant select on accounting.valued_entries to depositd_accountant;
grant select on accounting.valued_entries to depositd_backup;
grant select on accounting.valued_entries to depositd_daemon;
grant select on accounting.valued_entries to depositd_viewer;
grant select on accounting.wallet_balances to depositd_accountant;
grant select on accounting.wallet_balances to depositd_backup;
grant select on accounting.wallet_balances to depositd_daemon;
grant select on accounting.wallet_balances to depositd_viewer;
grant select on accounting.withdrawals to depositd_accountant;
grant select on accounting.withdrawals to depositd_backup;
grant select on accounting.withdrawals to depositd_daemon;
grant select on accounting.withdrawals to depositd_viewer;
grant select on public.access_event to depositd_accountant;
grant select on public.access_event to depositd_backup;
grant select on public.access_event to depositd_daemon;
grant select on public.account_label to depositd_accountant;
grant select on public.account_label to depositd_backup;
grant select on public.account_label to depositd_daemon;
grant select on public.account_label to depositd_viewer;
grant select on public.active_sender to depositd_backup;
grant select on public.active_sender to depositd_daemon;
grant select on public.active_sender to depositd_viewer;
grant select on public.active_valuation to depositd_accountant;
grant select on public.active_valuation to depositd_backup;
grant select on public.active_valuation to depositd_daemon;
grant select on public.active_valuation to depositd_viewer;
grant select on public.address_book to depositd_backup;
grant select on public.address_book to depositd_viewer;
grant select on public.address_end to depositd_backup;
grant select on public.address_end to depositd_daemon;
grant select on public.address_end to depositd_viewer;
grant select on public.api_record to depositd_backup;
grant select on public.api_record to depositd_viewer;
grant select on public.api_token to depositd_backup;
grant select on public.api_token to depositd_daemon;
grant select on public.asset to depositd_accountant;
grant select on public.asset to depositd_backup;
grant select on public.asset to depositd_viewer;
grant select on public.balance_difference to depositd_backup;
grant select on public.balance_difference to depositd_viewer;
grant select on public.balance_point to depositd_backup;
grant select on public.balance_point to depositd_viewer;
grant select on public.canary to depositd_backup;
grant select on public.canary to depositd_viewer;
grant select on public.canary_webhook to depositd_backup;
grant select on public.canary_webhook to depositd_viewer;
grant select on public.chain_coverage to depositd_backup;
grant select on public.chain_coverage to depositd_viewer;
grant select on public.chain_gap to depositd_backup;
grant select on public.chain_gap to depositd_daemon;
grant select on public.chain_gap to depositd_viewer;
grant select on public.chain_gap_since to depositd_backup;
grant select on public.chain_gap_since to depositd_viewer;
grant select on public.chain_movement to depositd_backup;
grant select on public.chain_movement to depositd_viewer;
grant select on public.chain_network to depositd_backup;
grant select on public.chain_network to depositd_viewer;
grant select on public.chain_transfer to depositd_backup;
grant select on public.chain_transfer to depositd_viewer;
grant select on public.chain_watch to depositd_backup;
grant select on public.chain_watch to depositd_viewer;
grant select on public.checkpoint to depositd_accountant;
grant select on public.checkpoint to depositd_backup;
grant select on public.checkpoint to depositd_viewer;
grant select on public.cosignature to depositd_accountant;
grant select on public.cosignature to depositd_backup;
grant select on public.cosignature to depositd_viewer;
grant select on public.credit_safety to depositd_accountant;
grant select on public.credit_safety to depositd_backup;
grant select on public.credit_safety to depositd_daemon;
grant select on public.credit_safety to depositd_viewer;
grant select on public.decision to depositd_accountant;
grant select on public.decision to depositd_backup;
grant select on public.decision to depositd_daemon;
grant select on public.decision to depositd_viewer;
grant select on public.decision_event to depositd_accountant;
grant select on public.decision_event to depositd_backup;
grant select on public.decision_event to depositd_daemon;
grant select on public.decision_event to depositd_viewer;
grant select on public.deposit to depositd_backup;
grant select on public.deposit to depositd_viewer;
grant select on public.deposit_count to depositd_backup;
grant select on public.deposit_count to depositd_viewer;
grant select on public.deposit_hour to depositd_backup;
grant select on public.deposit_hour to depositd_viewer;
grant select on public.deposit_hour_counted to depositd_backup;
grant select on public.deposit_hour_counted to depositd_daemon;
grant select on public.deposit_hour_counted to depositd_viewer;
grant select on public.deposit_report to depositd_backup;
grant select on public.deposit_report to depositd_daemon;
grant select on public.deposit_report to depositd_viewer;
grant select on public.disposal to depositd_accountant;
grant select on public.disposal to depositd_backup;
grant select on public.disposal to depositd_viewer;
grant select on public.event to depositd_backup;
grant select on public.event to depositd_viewer;
grant select on public.event_attempt to depositd_backup;
grant select on public.event_attempt to depositd_viewer;
grant select on public.event_delivery to depositd_backup;
grant select on public.event_delivery to depositd_viewer;
grant select on public.event_endpoint to depositd_backup;
grant select on public.event_endpoint to depositd_viewer;
grant select on public.event_endpoint_secret to depositd_backup;
grant select on public.event_pending to depositd_backup;
grant select on public.event_pending to depositd_viewer;
grant select on public.evidence to depositd_backup;
grant select on public.evidence to depositd_viewer;
grant select on public.evidence_group to depositd_backup;
grant select on public.evidence_group to depositd_viewer;
grant select on public.idempotency_key to depositd_backup;
grant select on public.inbox to depositd_backup;
grant select on public.inbox to depositd_viewer;
grant select on public.inbox_pending to depositd_backup;
grant select on public.inbox_pending to depositd_viewer;
grant select on public.invitation to depositd_backup;
grant select on public.invitation to depositd_daemon;
grant select on public.ledger_account to depositd_accountant;
grant select on public.ledger_account to depositd_backup;
grant select on public.ledger_account to depositd_viewer;
grant select on public.ledger_balance to depositd_backup;
grant select on public.ledger_balance to depositd_daemon;
grant select on public.ledger_balance to depositd_viewer;
grant select on public.ledger_entry to depositd_accountant;
grant select on public.ledger_entry to depositd_backup;
grant select on public.ledger_entry to depositd_daemon;
grant select on public.ledger_entry to depositd_viewer;
grant select on public.ledger_journal to depositd_accountant;
grant select on public.ledger_journal to depositd_backup;
grant select on public.ledger_journal to depositd_daemon;
grant select on public.ledger_journal to depositd_viewer;
grant select on public.ledger_last_cut to depositd_backup;
grant select on public.ledger_last_cut to depositd_daemon;
grant select on public.ledger_last_cut to depositd_viewer;
grant select on public.ledger_period to depositd_accountant;
grant select on public.ledger_period to depositd_backup;
grant select on public.ledger_period to depositd_daemon;
grant select on public.ledger_period to depositd_viewer;
grant select on public.ledger_period_balance to depositd_accountant;
grant select on public.ledger_period_balance to depositd_backup;
grant select on public.ledger_period_balance to depositd_daemon;
grant select on public.ledger_period_balance to depositd_viewer;
grant select on public.ledger_period_event to depositd_accountant;
grant select on public.ledger_period_event to depositd_backup;
grant select on public.ledger_period_event to depositd_daemon;
grant select on public.ledger_period_event to depositd_viewer;
grant select on public.ledger_snapshot to depositd_accountant;
grant select on public.ledger_snapshot to depositd_backup;
grant select on public.ledger_snapshot to depositd_daemon;
grant select on public.ledger_snapshot to depositd_viewer;
grant select on public.ledger_snapshot_day to depositd_accountant;
grant select on public.ledger_snapshot_day to depositd_backup;
grant select on public.ledger_snapshot_day to depositd_daemon;
grant select on public.ledger_snapshot_day to depositd_viewer;
grant select on public.ledger_tie to depositd_accountant;
grant select on public.ledger_tie to depositd_backup;
grant select on public.ledger_tie to depositd_daemon;
grant select on public.ledger_tie to depositd_viewer;
grant select on public.ledger_transfer to depositd_accountant;
grant select on public.ledger_transfer to depositd_backup;
grant select on public.ledger_transfer to depositd_viewer;
grant select on public.ledger_transfer_default to depositd_backup;
grant select on public.ledger_transfer_default to depositd_viewer;
grant select on public.ledger_transit to depositd_backup;
grant select on public.ledger_transit to depositd_daemon;
grant select on public.ledger_transit to depositd_viewer;
grant select on public.leg_search to depositd_backup;
grant select on public.leg_search to depositd_viewer;
grant select on public.link_key to depositd_backup;
grant select on public.link_key to depositd_viewer;
grant select on public.manual_journal to depositd_accountant;
grant select on public.manual_journal to depositd_backup;
grant select on public.manual_journal to depositd_daemon;
grant select on public.manual_journal to depositd_viewer;
grant select on public.mismatch to depositd_backup;
grant select on public.mismatch to depositd_viewer;
grant select on public.mismatch_attachment to depositd_backup;
grant select on public.mismatch_attachment to depositd_daemon;
grant select on public.mismatch_attachment to depositd_viewer;
grant select on public.mismatch_event to depositd_backup;
grant select on public.mismatch_event to depositd_viewer;
grant select on public.mismatch_loss to depositd_backup;
grant select on public.mismatch_loss to depositd_viewer;
grant select on public.named_transaction to depositd_backup;
grant select on public.named_transaction to depositd_viewer;
grant select on public.notification to depositd_backup;
grant select on public.notification to depositd_viewer;
grant select on public.notification_message to depositd_backup;
grant select on public.notification_message to depositd_viewer;
grant select on public.open_mismatch to depositd_backup;
grant select on public.open_mismatch to depositd_daemon;
grant select on public.open_mismatch to depositd_viewer;
grant select on public.opening_lot to depositd_accountant;
grant select on public.opening_lot to depositd_backup;
grant select on public.opening_lot to depositd_daemon;
grant select on public.opening_lot to depositd_viewer;
grant select on public.owner to depositd_backup;
grant select on public.owner to depositd_viewer;
grant select on public.possible_match to depositd_backup;
grant select on public.possible_match to depositd_daemon;
grant select on public.possible_match to depositd_viewer;
grant select on public.price to depositd_accountant;
grant select on public.price to depositd_backup;
grant select on public.price to depositd_daemon;
grant select on public.price to depositd_viewer;
grant select on public.proposal to depositd_backup;
grant select on public.proposal to depositd_viewer;
grant select on public.quarantine to depositd_backup;
grant select on public.quarantine to depositd_viewer;
grant select on public.rule_set to depositd_backup;
grant select on public.rule_set to depositd_daemon;
grant select on public.rule_set to depositd_viewer;
grant select on public.saved_view to depositd_backup;
grant select on public.saved_view to depositd_viewer;
grant select on public.seal to depositd_accountant;
grant select on public.seal to depositd_backup;
grant select on public.seal to depositd_viewer;
grant select on public.seal_node to depositd_accountant;
grant select on public.seal_node to depositd_backup;
grant select on public.seal_node to depositd_viewer;
grant select on public.session to depositd_backup;
grant select on public.stream to depositd_backup;
grant select on public.stream to depositd_viewer;
grant select on public.unnamed_transfer to depositd_backup;
grant select on public.unnamed_transfer to depositd_daemon;
grant select on public.unnamed_transfer to depositd_viewer;
grant select on public.valuation_rule to depositd_accountant;
grant select on public.valuation_rule to depositd_backup;
grant select on public.valuation_rule to depositd_daemon;
grant select on public.valuation_rule to depositd_viewer;
grant select on public.value_lot to depositd_accountant;
grant select on public.value_lot to depositd_backup;
grant select on public.value_lot to depositd_viewer;
grant select on public.valued_journal to depositd_accountant;
grant select on public.valued_journal to depositd_backup;
grant select on public.valued_journal to depositd_daemon;
grant select on public.valued_journal to depositd_viewer;
grant select on public.valued_line to depositd_accountant;
grant select on public.valued_line to depositd_backup;
grant select on public.valued_line to depositd_viewer;
grant select on public.wallet_balance to depositd_backup;
grant select on public.wallet_balance to depositd_viewer;
grant select on public.webhook_conflict to depositd_backup;
grant select on public.webhook_conflict to depositd_viewer;
grant select on public.webhook_repeat to depositd_backup;
grant select on public.webhook_repeat to depositd_viewer;
grant select on public.withdrawal to depositd_backup;
grant select on public.withdrawal to depositd_viewer;

comment on column account of view accounting.accounts is 'Account, for example assets:in_transit:base.';
comment on column account of view accounting.balances is 'Account, for example assets:in_transit:base.';
comment on column account of view accounting.credit_safety is 'Account that holds it.';
comment on column account of view accounting.disposals is 'Account that held them.';
comment on column account of view accounting.entries is 'Account, for example assets:in_transit:base.';
comment on column account of view accounting.period_balances is 'Account, for example assets:in_transit:base.';
comment on column account of view accounting.valued_balances is 'Account, for example assets:in_transit:base.';
comment on column account of view accounting.valued_entries is 'Account, for example assets:in_transit:base.';
comment on column acquired_at of view accounting.disposals is 'When they were acquired; empty if costs are averaged.';
comment on column acquired_by of view accounting.disposals is 'Journal that acquired them; empty if costs are averaged.';
comment on column action of view accounting.audit_log is 'invited, passkey_made, signed_in, signed_out, sessions_ended; exported, bundle_made, dispute_made, attachment_taken; webhooks_retried, webhooks_dropped; token_created, token_revoked; endpoint_created, endpoint_changed, endpoint_removed; signed, rejected or outdated for a decision; the action on a mismatch; rules_changed.';
comment on column action of view accounting.mismatch_history is 'opened, assigned, commented, comment_withdrawn, attached, snoozed, resolved, reopened, written_off, write_off_withdrawn, matched, split or cleared.';
comment on column action of view accounting.period_history is 'soft_closed, closed or reopened.';
comment on column actor of view accounting.mismatch_history is 'The person who did it, or depositd if the evidence did.';
comment on column actor of view accounting.period_history is 'The person who did it.';
comment on column added_at of view accounting.address_book is 'When the entry was stored.';
comment on column added_by of view accounting.address_book is 'Person who added it, or depositd if a program of depositd did.';
comment on column address of view accounting.address_book is 'Deposit address, or recipient of forwards.';
comment on column address of view accounting.coverage is 'The address.';
comment on column address of view accounting.deposits is 'Deposit address that was paid.';
comment on column address of view accounting.tie_out is 'Deposit address; empty for amounts in transit without a payment on the chain.';
comment on column addresses of view accounting.coverage_gaps is 'The number of addresses for which it was not read.';
comment on column after of view accounting.mismatch_history is 'The changed values, after; for a decision about money, the decision.';
comment on column age of view accounting.in_transit_age is 'From then until now, or until the moment asked for.';
comment on column age of view accounting.mismatches is 'From opened_at until it was resolved or cleared, or to now while open.';
comment on column age of view accounting.open_conversions is 'From then until now.';
comment on column amount of view accounting.credit_safety is 'Amount booked for the payment, before fees and conversion, in units of the asset.';
comment on column amount of view accounting.daily_totals is 'Their sum, in units of the asset.';
comment on column amount of view accounting.deposits is 'Amount paid, in units of the asset.';
comment on column amount of view accounting.disposals is 'In units of the asset.';
comment on column amount of view accounting.entries is 'In units of the asset; debits positive, credits negative.';
comment on column amount of view accounting.fees is 'Amount paid, in units of the asset.';
comment on column amount of view accounting.in_transit_age is 'The amount in transit, in units of the asset.';
comment on column amount of view accounting.mismatch_ageing is 'Losses, in units of the asset. Of one transfer, the largest counts.';
comment on column amount of view accounting.mismatches is 'Amount of the deposit, transfer or balance that it is about, in units of the asset. The possible loss is in loss.';
comment on column amount of view accounting.open_conversions is 'Balance of the trading account for this deposit, in units of the asset: above zero if it was given away, below zero if it was received.';
comment on column amount of view accounting.valuation is 'In units of the asset.';
comment on column amount of view accounting.value_at_risk is 'Losses, in units of the asset.';
comment on column amount of view accounting.valued_entries is 'In units of the asset; debits positive, credits negative. Zero if only the value changes.';
comment on column amount of view accounting.withdrawals is 'What leaves the balance, in units of the asset.';
comment on column amount_base of view accounting.credit_safety is 'The same amount, in base units.';
comment on column amount_base of view accounting.daily_totals is 'Their sum, in base units.';
comment on column amount_base of view accounting.deposits is 'Amount paid, in base units.';
comment on column amount_base of view accounting.disposals is 'In base units.';
comment on column amount_base of view accounting.entries is 'In base units; debits positive, credits negative.';
comment on column amount_base of view accounting.fees is 'Amount paid, in base units.';
comment on column amount_base of view accounting.in_transit_age is 'The amount in transit, in base units.';
comment on column amount_base of view accounting.mismatch_ageing is 'Losses, in base units.';
comment on column amount_base of view accounting.mismatches is 'The same amount, in base units.';
comment on column amount_base of view accounting.open_conversions is 'The same amount, in base units.';
comment on column amount_base of view accounting.valuation is 'In base units.';
comment on column amount_base of view accounting.value_at_risk is 'Losses, in base units.';
comment on column amount_base of view accounting.valued_entries is 'In base units.';
comment on column amount_base of view accounting.withdrawals is 'What leaves the balance, in base units.';
comment on column approved_by of view accounting.address_book is 'Second person, who approved it; empty if the settings required none.';
comment on column approved_by of view accounting.decisions is 'The second person; empty if there is none.';
comment on column approved_by of view accounting.manual_journals is 'The person who agreed; never the one who booked it. Empty if one person decided about a deposit alone.';
comment on column approved_by of view accounting.mismatch_history is 'The second person; empty if none was required.';
comment on column approved_by of view accounting.period_history is 'The second person; empty if there was none.';
comment on column approved_by of view accounting.periods is 'The second person; empty if there was none.';
comment on column approved_by of view accounting.rule_sets is 'The second person, if it took two.';
comment on column arriving of view accounting.wallet_balances is 'Credits of open deposits that are not proved yet, in units of the asset.';
comment on column asset of view accounting.balances is 'Asset: network/contract, network/mint or network/native.';
comment on column asset of view accounting.credit_safety is 'Asset paid.';
comment on column asset of view accounting.daily_totals is 'Asset paid: network/contract, network/mint or network/native.';
comment on column asset of view accounting.deposits is 'Asset paid: network/contract, network/mint or network/native.';
comment on column asset of view accounting.disposals is 'Asset: network/contract, network/mint or network/native.';
comment on column asset of view accounting.entries is 'Asset: network/contract, network/mint or network/native.';
comment on column asset of view accounting.fees is 'Asset paid.';
comment on column asset of view accounting.in_transit_age is 'Asset: network/contract, network/mint or network/native.';
comment on column asset of view accounting.mismatch_ageing is 'Asset of the losses; empty for mismatches without one.';
comment on column asset of view accounting.mismatches is 'Asset of the deposit, transfer or balance that it is about.';
comment on column asset of view accounting.open_conversions is 'Asset: network/contract, network/mint or network/native.';
comment on column asset of view accounting.period_balances is 'Asset: network/contract, network/mint or network/native.';
comment on column asset of view accounting.prices is 'Asset: network/contract, network/mint or network/native.';
comment on column asset of view accounting.scorecard is 'Asset paid.';
comment on column asset of view accounting.tie_out is 'Asset: network/contract, network/mint or network/native.';
comment on column asset of view accounting.valuation is 'Asset: network/contract, network/mint or network/native.';
comment on column asset of view accounting.value_at_risk is 'Asset: network/contract, network/mint or network/native.';
comment on column asset of view accounting.valued_balances is 'Asset: network/contract, network/mint or network/native; empty of gains and rounding.';
comment on column asset of view accounting.valued_entries is 'Asset: network/contract, network/mint or network/native; empty of gains and rounding.';
comment on column asset of view accounting.wallet_balances is 'Asset in which the wallet is credited.';
comment on column asset of view accounting.withdrawals is 'Asset that leaves the balance.';
comment on column asset_symbol of view accounting.balances is 'Label of the asset.';
comment on column asset_symbol of view accounting.credit_safety is 'Label of the asset.';
comment on column asset_symbol of view accounting.daily_totals is 'Label of the asset paid.';
comment on column asset_symbol of view accounting.deposits is 'Label of the asset paid. Not unique: two tokens may share it.';
comment on column asset_symbol of view accounting.disposals is 'Label of the asset.';
comment on column asset_symbol of view accounting.entries is 'Label of the asset.';
comment on column asset_symbol of view accounting.fees is 'Label of the asset paid.';
comment on column asset_symbol of view accounting.in_transit_age is 'Label of the asset.';
comment on column asset_symbol of view accounting.mismatch_ageing is 'Label of the asset of the losses.';
comment on column asset_symbol of view accounting.mismatches is 'Label of that asset.';
comment on column asset_symbol of view accounting.open_conversions is 'Label of the asset.';
comment on column asset_symbol of view accounting.period_balances is 'Label of the asset.';
comment on column asset_symbol of view accounting.prices is 'Label of the asset.';
comment on column asset_symbol of view accounting.scorecard is 'Label of the asset paid.';
comment on column asset_symbol of view accounting.tie_out is 'Label of the asset.';
comment on column asset_symbol of view accounting.valuation is 'Label of the asset.';
comment on column asset_symbol of view accounting.value_at_risk is 'Label of the asset.';
comment on column asset_symbol of view accounting.valued_balances is 'Label of the asset; empty of gains and rounding.';
comment on column asset_symbol of view accounting.valued_entries is 'Label of the asset; empty of gains and rounding.';
comment on column asset_symbol of view accounting.wallet_balances is 'Label of the asset.';
comment on column asset_symbol of view accounting.withdrawals is 'Label of the asset that leaves the balance.';
comment on column assigned_to of view accounting.mismatches is 'The person who works on it.';
comment on column at of view accounting.audit_log is 'When it was.';
comment on column at of view accounting.mismatch_history is 'When it was done.';
comment on column at of view accounting.period_history is 'When it was done.';
comment on column at of view accounting.prices is 'The time of the price.';
comment on column balance of view accounting.balances is 'In units of the asset; debit balances positive, credit balances negative.';
comment on column balance of view accounting.period_balances is 'Debit less credit, in units of the asset.';
comment on column balance of view accounting.tie_out is 'Proved balance of the address, in units of the asset.';
comment on column balance of view accounting.valued_balances is 'In units of the asset; debit balances positive, credit balances negative.';
comment on column balance of view accounting.wallet_balances is 'As the service states it, in units of the asset.';
comment on column balance_base of view accounting.balances is 'In base units; debit balances positive, credit balances negative.';
comment on column balance_base of view accounting.period_balances is 'Debit less credit, in base units.';
comment on column balance_base of view accounting.tie_out is 'Proved balance of the address, in base units.';
comment on column balance_base of view accounting.valued_balances is 'In base units; debit balances positive, credit balances negative.';
comment on column balance_base of view accounting.wallet_balances is 'As the service states it, in base units.';
comment on column before of view accounting.mismatch_history is 'The changed values, before.';
comment on column belongs_to of view accounting.entries is 'First day of the month in which it happened; differs from period if that month was closed when it was booked.';
comment on column belongs_to of view accounting.journal is 'First day of the month in which it happened; differs from period if that month was closed when it was booked.';
comment on column belongs_to of view accounting.late_items is 'First day of the month in which it happened.';
comment on column block_hash of view accounting.credit_safety is 'Hash of that block.';
comment on column books of view accounting.wallet_balances is 'Balance of the account assets:stable_wallet:WALLET, in units of the asset.';
comment on column books_base of view accounting.wallet_balances is 'The same in base units.';
comment on column borne_by of view accounting.fees is 'us: an expense; customer: it reduces what is owed.';
comment on column bucket of view accounting.in_transit_age is '< 1 h, < 24 h, < 3 d, < 7 d, < 30 d or older, each without those before it.';
comment on column bucket of view accounting.mismatch_ageing is '< 1 h, < 24 h, < 3 d, < 7 d, < 30 d or older, each without those before it.';
comment on column changed_at of view accounting.manual_journals is 'When that deposit first changed afterwards: a journal from evidence, or a mismatch that opened or was cleared. Empty if it did not, or if the journal is reversed.';
comment on column checked_at of view accounting.tie_out is 'When the balance was last read.';
comment on column class of view accounting.accounts is 'assets, liabilities, equity, income, expenses or trading.';
comment on column cleared_at of view accounting.mismatches is 'When the evidence stopped supporting it; empty until then.';
comment on column cleared_how of view accounting.mismatches is 'evidence: the evidence changed; person: a person decided.';
comment on column closed_at of view accounting.periods is 'When it was closed, or soft-closed; empty while it is open, and of months before the first that was closed.';
comment on column closed_by of view accounting.periods is 'The person who closed it.';
comment on column closing of view accounting.period_balances is 'Which close of the month it was, counted from 1.';
comment on column code of view accounting.accounts is 'Code of the account in other books, if the settings give one.';
comment on column completeness of view accounting.scorecard is 'steps_reported divided by steps_known: 1 if no webhook is missing.';
comment on column cost of view accounting.disposals is 'What they were worth when they were acquired.';
comment on column credit of view accounting.period_balances is 'Total credits, in units of the asset.';
comment on column credit of view accounting.valuation is 'Account that is credited.';
comment on column credit_base of view accounting.period_balances is 'Total credits, in base units.';
comment on column currency of view accounting.conversion is 'Currency of prices and values; empty while none is set.';
comment on column currency of view accounting.disposals is 'Functional currency.';
comment on column currency of view accounting.mismatch_ageing is 'Currency of value; empty while nothing is valued.';
comment on column currency of view accounting.mismatches is 'Currency of loss_value; empty while nothing is valued.';
comment on column currency of view accounting.prices is 'Currency of the price, like EUR.';
comment on column currency of view accounting.valuation is 'Currency of price and value.';
comment on column currency of view accounting.value_at_risk is 'Currency of value; empty while nothing is valued.';
comment on column currency of view accounting.valued_balances is 'Functional currency.';
comment on column currency of view accounting.valued_entries is 'Functional currency.';
comment on column day of view accounting.daily_totals is 'Day, in UTC, on which it happened.';
comment on column debit of view accounting.period_balances is 'Total debits, in units of the asset.';
comment on column debit of view accounting.valuation is 'Account that is debited.';
comment on column debit_base of view accounting.period_balances is 'Total debits, in base units.';
comment on column decided_at of view accounting.decisions is 'When it was done, or ended otherwise; empty while it waits.';
comment on column decision_id of view accounting.address_book is 'Signed decision that added it; empty if a program did, or if it was not signed.';
comment on column decision_id of view accounting.manual_journals is 'The signed decision; empty if it was booked without signatures.';
comment on column decision_id of view accounting.mismatch_history is 'The signed decision; empty if none was needed, or if it was decided without signatures.';
comment on column decision_id of view accounting.period_history is 'The signed decision; empty if it was done without signatures.';
comment on column decision_id of view accounting.rule_sets is 'The decision that people signed. Null without signatures.';
comment on column delivered of view accounting.conversion is 'The amount after conversion, in units of the asset: delivered, fee and tolerated difference.';
comment on column delivered of view accounting.scorecard is 'Delivered for them, in units of the asset delivered.';
comment on column delivered_asset of view accounting.conversion is 'Asset delivered; empty if there is more than one.';
comment on column delivered_asset_symbol of view accounting.conversion is 'Label of the asset delivered; empty if there is more than one.';
comment on column delivered_base of view accounting.conversion is 'The amount after conversion, in base units.';
comment on column delivered_per_paid of view accounting.scorecard is 'Units delivered for one unit paid, fees and exchange included.';
comment on column delivered_price of view accounting.conversion is 'Price of one unit delivered, at settlement; empty if no price is recent enough.';
comment on column delivered_price_at of view accounting.conversion is 'The time of the price.';
comment on column delivered_price_source of view accounting.conversion is 'Source of that price.';
comment on column delivered_value of view accounting.conversion is 'delivered times its price, exact.';
comment on column delivery_p50_seconds of view accounting.scorecard is 'From an event to its webhook, in seconds: half are faster.';
comment on column delivery_p95_seconds of view accounting.scorecard is 'From an event to its webhook, in seconds: 95 of 100 are faster.';
comment on column delivery_p99_seconds of view accounting.scorecard is 'From an event to its webhook, in seconds: 99 of 100 are faster.';
comment on column deposit_id of view accounting.conversion is 'The deposit that was settled.';
comment on column deposit_id of view accounting.credit_safety is 'Number of the deposit.';
comment on column deposit_id of view accounting.entries is 'The deposit it belongs to; empty if there is none.';
comment on column deposit_id of view accounting.fees is 'The deposit it was paid for; empty if it was booked by hand.';
comment on column deposit_id of view accounting.in_transit_age is 'Our number of the deposit; empty for opening balances and payments that are part of them.';
comment on column deposit_id of view accounting.journal is 'The deposit it belongs to; empty if there is none.';
comment on column deposit_id of view accounting.late_items is 'The deposit it belongs to; empty if there is none.';
comment on column deposit_id of view accounting.manual_journals is 'The deposit that it names; empty if there is none.';
comment on column deposit_id of view accounting.mismatches is 'The deposit it is about; empty if there is none.';
comment on column deposit_id of view accounting.open_conversions is 'Our number of the deposit.';
comment on column deposit_id of view accounting.valuation is 'The deposit it belongs to; empty if there is none.';
comment on column deposit_id of view accounting.valued_entries is 'The deposit it belongs to; empty if there is none.';
comment on column deposited_at of view accounting.deposits is 'Time of the block that holds the payment.';
comment on column deposits of view accounting.daily_totals is 'The number of final payments of that day.';
comment on column deposits of view accounting.scorecard is 'How many deposits.';
comment on column detail of view accounting.audit_log is 'What it was about; by what a person signed in: passkey, link or the address of the provider; or who invited them.';
comment on column detail of view accounting.mismatches is 'What each side states, with amounts in base units.';
comment on column difference of view accounting.conversion is 'delivered_value less paid_value: the gain or loss between payment and delivery. Empty if a price is missing.';
comment on column difference of view accounting.tie_out is 'Difference between the books and the balance, in units of the asset; if it is not zero, it is a ledger_imbalance.';
comment on column difference of view accounting.wallet_balances is 'By how much the balance is below the books less leaving (negative) or above the books plus arriving (positive).';
comment on column difference_base of view accounting.tie_out is 'Difference between the books and the balance, in base units.';
comment on column differs_since of view accounting.wallet_balances is 'Since when there is a difference; empty if there is none.';
comment on column disposed_at of view accounting.disposals is 'When they were given away.';
comment on column duplicates of view accounting.scorecard is 'How often one of them was repeated.';
comment on column duplicates_share of view accounting.scorecard is 'duplicates divided by webhooks.';
comment on column end_approved_by of view accounting.address_book is 'Second person, who approved that; empty if the settings required none.';
comment on column end_decision_id of view accounting.address_book is 'Signed decision about its end; empty if that was not signed.';
comment on column end_reason of view accounting.address_book is 'Reason of the last decision about its end.';
comment on column ended_at of view accounting.address_book is 'When the last decision about its end was stored; empty if there is none.';
comment on column ended_by of view accounting.address_book is 'Person who ended it, or withdrew its end.';
comment on column enrolled_at of view accounting.coverage is 'When it was added to the watched addresses.';
comment on column entry of view accounting.audit_log is 'The row behind it: its table and number.';
comment on column event of view accounting.mismatch_history is 'Number of the event; empty for what evidence opened or cleared.';
comment on column event_at of view accounting.entries is 'When it happened.';
comment on column event_at of view accounting.fees is 'When the delivery happened.';
comment on column event_at of view accounting.journal is 'When it happened.';
comment on column event_at of view accounting.late_items is 'When it happened.';
comment on column event_at of view accounting.manual_journals is 'The date of the booking.';
comment on column event_at of view accounting.valuation is 'When it happened.';
comment on column event_at of view accounting.valued_entries is 'When it happened; of a revaluation the end of the month, and of its taking back the beginning of the next one.';
comment on column fee of view accounting.deposits is 'Fee the service states, in units of the asset delivered.';
comment on column fee of view accounting.fees is 'The fee, in units of the asset delivered.';
comment on column fee of view accounting.scorecard is 'Fees that the service states for them, in units of the asset delivered.';
comment on column fee_base of view accounting.deposits is 'Fee the service states, in base units.';
comment on column fee_base of view accounting.fees is 'The fee, in base units.';
comment on column fee_share of view accounting.scorecard is 'Effective fee: fee by delivered and fee together, of those for which a fee is stated.';
comment on column final_at of view accounting.credit_safety is 'When that block was read as final.';
comment on column final_at of view accounting.deposits is 'When the payment was read as final.';
comment on column forced of view accounting.period_history is 'Whether it was closed while severe mismatches were open.';
comment on column forced of view accounting.periods is 'Whether it was closed while severe mismatches were open.';
comment on column from_age of view accounting.in_transit_age is 'Least age in the bucket. Sort by it.';
comment on column from_age of view accounting.mismatch_ageing is 'Least age in the bucket. Sort by it.';
comment on column from_height of view accounting.coverage is 'First block or slot to be read for it.';
comment on column from_height of view accounting.coverage_gaps is 'First block or slot of the range.';
comment on column gain of view accounting.disposals is 'proceeds less cost; negative if it is a loss.';
comment on column height of view accounting.credit_safety is 'Block of the payment; empty if it was withdrawn.';
comment on column height of view accounting.tie_out is 'Final block or slot at which the balance was last proved; empty if it never was.';
comment on column id of view accounting.decisions is 'Number of the decision.';
comment on column id of view accounting.deposits is 'Our number of the deposit, as in "bin/depositd deposits show ID".';
comment on column id of view accounting.journal is 'Number of the journal.';
comment on column id of view accounting.mismatches is 'Number of the mismatch.';
comment on column id of view accounting.period_history is 'Number of the line.';
comment on column id of view accounting.rule_sets is 'Number of the change.';
comment on column imported_at of view accounting.prices is 'When it was imported.';
comment on column in_transit of view accounting.tie_out is 'Payments to the address that are in transit in the books, in units of the asset.';
comment on column in_transit_base of view accounting.tie_out is 'Payments in transit, in base units.';
comment on column is_safe of view accounting.credit_safety is 'Whether the owner may be credited; false if that was withdrawn.';
comment on column journal_id of view accounting.conversion is 'Journal that settles it.';
comment on column journal_id of view accounting.credit_safety is 'The journal that proves it; of a withdrawal, the one that ended it.';
comment on column journal_id of view accounting.disposals is 'Journal that gave them away.';
comment on column journal_id of view accounting.entries is 'Journal the entry belongs to.';
comment on column journal_id of view accounting.fees is 'Journal that books it.';
comment on column journal_id of view accounting.late_items is 'Number of the journal.';
comment on column journal_id of view accounting.manual_journals is 'Number of the journal.';
comment on column journal_id of view accounting.valuation is 'Journal it belongs to.';
comment on column journal_id of view accounting.valued_entries is 'Journal that is valued; empty of a revaluation.';
comment on column journal_id of view accounting.withdrawals is 'The journal that books it; empty until it is proved.';
comment on column journals of view accounting.periods is 'The number of journals in its books.';
comment on column kind of view accounting.conversion is 'settlement or reversal.';
comment on column kind of view accounting.decisions is 'What is decided: person, journal, reversal, close, reopen, write_off, match, opening, restore or addresses.';
comment on column kind of view accounting.entries is 'Kind of the journal.';
comment on column kind of view accounting.journal is 'deposit, settlement, conversion, shortage, refund, write_off, withdrawal, manual, opening or reversal.';
comment on column kind of view accounting.late_items is 'Kind of the journal.';
comment on column kind of view accounting.manual_journals is 'manual, opening or reversal; of a restore, that of its journal.';
comment on column kind of view accounting.mismatch_ageing is 'What is wrong; docs/mismatches.md explains each kind.';
comment on column kind of view accounting.mismatches is 'What is wrong; docs/mismatches.md explains each kind.';
comment on column kind of view accounting.valuation is 'Kind of the journal.';
comment on column kind of view accounting.valued_entries is 'Kind of the journal; revaluation at the end of a month, or revaluation_back, which takes it back in the next month.';
comment on column last_journal of view accounting.period_history is 'The last journal that was written before; empty of a reopening.';
comment on column late_journals of view accounting.periods is 'How many of them are late, of an earlier month: accounting.late_items.';
comment on column leaving of view accounting.wallet_balances is 'Withdrawals that are not proved yet, in units of the asset.';
comment on column leg of view accounting.entries is 'Number of the transfer inside its journal.';
comment on column leg of view accounting.valuation is 'Number of the transfer inside its journal.';
comment on column login of view accounting.audit_log is 'The login of the database that wrote it; empty for what has a record of its own.';
comment on column loss of view accounting.mismatches is 'The possible loss, in units of its asset.';
comment on column loss_asset of view accounting.mismatches is 'Asset of the loss; empty if nothing is lost, or if it cannot be measured. docs/mismatches.md says which, for each kind.';
comment on column loss_asset_symbol of view accounting.mismatches is 'Label of the asset of the loss.';
comment on column loss_base of view accounting.mismatches is 'The possible loss, in base units.';
comment on column loss_share of view accounting.mismatches is 'The loss as a share of the whole amount, such as the delivery that is owed; 1 is all of it.';
comment on column loss_value of view accounting.mismatches is 'Loss at the price that applied when the mismatch opened; empty if there is no price.';
comment on column made_at of view accounting.checkpoints is 'When it was made.';
comment on column made_by of view accounting.manual_journals is 'The person who booked it.';
comment on column mismatch_id of view accounting.mismatch_history is 'Number of the mismatch.';
comment on column mismatches of view accounting.mismatch_ageing is 'How many are open.';
comment on column missing_heights of view accounting.coverage is 'How many of these heights were not read for this address and every asset; 0 if reading is complete.';
comment on column moved of view accounting.tie_out is 'Other movements on the chain, in units of the asset; outgoing ones are negative.';
comment on column moved_base of view accounting.tie_out is 'Other movements on the chain, in base units.';
comment on column name of view accounting.accounts is 'Name of the account in other books, if the settings give one.';
comment on column network of view accounting.address_book is 'Network of the address.';
comment on column network of view accounting.coverage is 'Network on which it is watched.';
comment on column network of view accounting.coverage_gaps is 'Network of the range.';
comment on column network of view accounting.daily_totals is 'Network of the payments.';
comment on column network of view accounting.deposits is 'Network on which the payment arrived.';
comment on column network of view accounting.fees is 'Network of the payment.';
comment on column network of view accounting.in_transit_age is 'Network on which it is in transit.';
comment on column network of view accounting.mismatches is 'Network it is about.';
comment on column network of view accounting.scorecard is 'Network of the payments; empty for the whole service.';
comment on column network of view accounting.tie_out is 'Network of the address.';
comment on column network of view accounting.withdrawals is 'Network to which it is paid.';
comment on column normal of view accounting.accounts is 'The side on which its balance usually is: debit or credit; none for trading.';
comment on column not_booked of view accounting.tie_out is 'Payments that are on the chain and not booked (not claimed yet, not decided yet, from before the opening, or no deposits), in units of the asset.';
comment on column not_booked_base of view accounting.tie_out is 'Payments that are on the chain and not booked, in base units.';
comment on column note of view accounting.checkpoints is 'The signed text that is published.';
comment on column occurred_at of view accounting.withdrawals is 'Time of the status.';
comment on column opened_at of view accounting.mismatches is 'When it was noticed.';
comment on column opening of view accounting.tie_out is 'Balance of the address at the start of reading, in units of the asset.';
comment on column opening_base of view accounting.tie_out is 'Balance of the address at the start of reading, in base units.';
comment on column otherwise of view accounting.daily_totals is 'Other amounts that left transit (written off, refunded), in units of the asset; opening balances are negative.';
comment on column otherwise_base of view accounting.daily_totals is 'Other amounts that left transit, in base units; opening balances are negative.';
comment on column out_of_transit of view accounting.tie_out is 'Payments that left transit (delivered, written off, refunded), in units of the asset.';
comment on column out_of_transit_base of view accounting.tie_out is 'Payments that left transit, in base units.';
comment on column outside of view accounting.tie_out is 'Booked payments that the balance does not include, because their block is above its height or below the start of reading; negative, in units of the asset.';
comment on column outside_base of view accounting.tie_out is 'Booked payments that the balance does not include, in base units.';
comment on column owner_id of view accounting.address_book is 'Channel or StableWallet of the address; empty for a recipient.';
comment on column owner_id of view accounting.conversion is 'Channel or StableWallet that the deposit is for.';
comment on column owner_id of view accounting.daily_totals is 'Channel or StableWallet whose address was paid.';
comment on column owner_id of view accounting.deposits is 'The owner: the id given when the channel or wallet was created, with "SERVICE/" before it unless the service is the default one.';
comment on column owner_id of view accounting.fees is 'Channel or StableWallet that the deposit is for.';
comment on column owner_id of view accounting.in_transit_age is 'Channel or StableWallet whose address was paid.';
comment on column owner_id of view accounting.open_conversions is 'Channel or StableWallet whose address was paid.';
comment on column owner_id of view accounting.tie_out is 'Channel or StableWallet of the address.';
comment on column owner_kind of view accounting.address_book is 'channel or stable_wallet; empty for a recipient, which may serve several owners.';
comment on column owner_kind of view accounting.conversion is 'channel or stable_wallet.';
comment on column owner_kind of view accounting.daily_totals is 'channel or stable_wallet; empty if the journal has no deposit.';
comment on column owner_kind of view accounting.deposits is 'channel or stable_wallet.';
comment on column owner_kind of view accounting.fees is 'channel or stable_wallet.';
comment on column owner_kind of view accounting.in_transit_age is 'channel or stable_wallet.';
comment on column owner_kind of view accounting.open_conversions is 'channel or stable_wallet.';
comment on column owner_kind of view accounting.tie_out is 'channel or stable_wallet.';
comment on column paid of view accounting.conversion is 'Amount paid, in units of the asset.';
comment on column paid of view accounting.scorecard is 'Paid by the settled deposits of the route, in units of the asset paid.';
comment on column paid_asset of view accounting.conversion is 'Asset paid.';
comment on column paid_asset_symbol of view accounting.conversion is 'Label of the asset paid.';
comment on column paid_base of view accounting.conversion is 'Amount paid, in base units.';
comment on column paid_price of view accounting.conversion is 'Price of one unit paid, at receipt; empty if no price is recent enough.';
comment on column paid_price_at of view accounting.conversion is 'The time of the price.';
comment on column paid_price_source of view accounting.conversion is 'Source of that price.';
comment on column paid_value of view accounting.conversion is 'paid times its price, exact.';
comment on column part of view accounting.disposals is 'Number of the part inside its journal.';
comment on column people of view accounting.decisions is 'How many people must sign it.';
comment on column period of view accounting.disposals is 'First day of the month of the books in which the journal is.';
comment on column period of view accounting.entries is 'First day of the month of the books in which it is.';
comment on column period of view accounting.journal is 'First day of the month of the books in which it is.';
comment on column period of view accounting.late_items is 'First day of the month of the books in which it is.';
comment on column period of view accounting.manual_journals is 'First day of the month of the books in which it is.';
comment on column period of view accounting.period_balances is 'First day of the month.';
comment on column period of view accounting.period_history is 'First day of the month.';
comment on column period of view accounting.periods is 'First day of the month.';
comment on column period of view accounting.valued_entries is 'First day of the month of the books in which it is.';
comment on column person of view accounting.audit_log is 'The person; empty for a command without a key, and for a change of the settings.';
comment on column posting_key of view accounting.entries is 'Posting key of the journal.';
comment on column posting_key of view accounting.journal is 'Key of the booking. Unique, so that nothing is booked twice.';
comment on column posting_key of view accounting.late_items is 'Key of the booking.';
comment on column posting_key of view accounting.manual_journals is 'Key of the booking: manual/ and its reference, or opening and its number. Unique, so that nothing is booked twice.';
comment on column price of view accounting.prices is 'Price of one unit of the asset.';
comment on column price of view accounting.valuation is 'Price of one unit of the asset; empty if no price is recent enough.';
comment on column price of view accounting.valued_entries is 'Price of one unit of the asset at the time of the event.';
comment on column price_at of view accounting.valuation is 'When it was the price; not after event_at.';
comment on column price_at of view accounting.valued_entries is 'The time of the price; not after event_at.';
comment on column price_source of view accounting.valuation is 'Where the price is from.';
comment on column price_source of view accounting.valued_entries is 'Source of the price.';
comment on column proceeds of view accounting.disposals is 'What they were worth when they were given away.';
comment on column read_at of view accounting.wallet_balances is 'When the balance was read.';
comment on column reason of view accounting.credit_safety is 'What agreed, or why it was withdrawn.';
comment on column reason of view accounting.decisions is 'Why it was rejected.';
comment on column reason of view accounting.manual_journals is 'Why it was booked.';
comment on column reason of view accounting.mismatches is 'Why it was resolved.';
comment on column reason of view accounting.period_history is 'The reason; empty if none was given.';
comment on column reason of view accounting.periods is 'The reason; empty if none was given.';
comment on column received_at of view accounting.conversion is 'When it was paid.';
comment on column recipient of view accounting.withdrawals is 'Address to which it is paid.';
comment on column reconciled_at of view accounting.deposits is 'When all required sources first agreed.';
comment on column recorded_at of view accounting.conversion is 'When it was written.';
comment on column recorded_at of view accounting.entries is 'When it was written.';
comment on column recorded_at of view accounting.fees is 'When it was written.';
comment on column recorded_at of view accounting.journal is 'When it was written.';
comment on column recorded_at of view accounting.late_items is 'When it was written.';
comment on column recorded_at of view accounting.manual_journals is 'When it was written.';
comment on column recorded_at of view accounting.valuation is 'When it was written.';
comment on column reopened of view accounting.periods is 'How often it was opened again.';
comment on column requested_at of view accounting.decisions is 'When it was requested.';
comment on column requested_by of view accounting.decisions is 'The person who requested it.';
comment on column requested_by of view accounting.rule_sets is 'Null if the settings alone made them active: before there were people, or in embedded mode.';
comment on column resolved_at of view accounting.mismatches is 'When a person resolved it; empty once new evidence or a person opened it again.';
comment on column resolved_by of view accounting.mismatches is 'The person who resolved it.';
comment on column reversed_by of view accounting.manual_journals is 'The journal that takes this one back.';
comment on column reverses of view accounting.journal is 'The journal that this one takes back.';
comment on column reverses of view accounting.late_items is 'The journal that this one takes back.';
comment on column reverses of view accounting.manual_journals is 'The journal that this one takes back.';
comment on column role of view accounting.address_book is 'deposit or recipient.';
comment on column root of view accounting.checkpoints is 'Root of the Merkle tree over these rows, SHA-256.';
comment on column rules of view accounting.rule_sets is 'Policy, routes, contra accounts, the addresses of the service, and the limits of one person, as JSON.';
comment on column sampled of view accounting.scorecard is 'Of how many of these deposits webhooks and durations are: of all, if the span has at most 20,000.';
comment on column scope of view accounting.scorecard is 'service: all deposits of the service; route: those of one asset paid and one asset delivered.';
comment on column service of view accounting.credit_safety is 'Name of the deposit service in the settings.';
comment on column service of view accounting.daily_totals is 'Name of the deposit service in the settings; empty if the journal has no deposit.';
comment on column service of view accounting.deposits is 'Name of the deposit service in the settings.';
comment on column service of view accounting.fees is 'Name of the deposit service in the settings; empty if it was booked by hand.';
comment on column service of view accounting.in_transit_age is 'Name of the deposit service in the settings; empty if the row has no deposit.';
comment on column service of view accounting.mismatch_ageing is 'Name of the deposit service in the settings; empty for mismatches about no single service.';
comment on column service of view accounting.mismatches is 'Name of the deposit service in the settings; empty if it is about no single service.';
comment on column service of view accounting.open_conversions is 'Name of the deposit service in the settings.';
comment on column service of view accounting.scorecard is 'Name of the deposit service in the settings.';
comment on column service of view accounting.value_at_risk is 'Name of the deposit service in the settings; empty for losses by no single service.';
comment on column service of view accounting.wallet_balances is 'Name of the deposit service in the settings.';
comment on column service of view accounting.withdrawals is 'Name of the deposit service in the settings.';
comment on column service_id of view accounting.credit_safety is 'The deposit service''s id.';
comment on column service_id of view accounting.deposits is 'The deposit service''s id, with "SERVICE/" before it unless the service is the default one; empty while the service has not reported it.';
comment on column service_id of view accounting.in_transit_age is 'The deposit service''s own id; empty while the service has not reported it.';
comment on column service_id of view accounting.open_conversions is 'The deposit service''s own id; empty while the service has not reported it.';
comment on column settle_p50_seconds of view accounting.scorecard is 'From a final payment to its proved delivery, in seconds: half are faster.';
comment on column settle_p95_seconds of view accounting.scorecard is 'From a final payment to its proved delivery, in seconds: 95 of 100 are faster.';
comment on column settle_p99_seconds of view accounting.scorecard is 'From a final payment to its proved delivery, in seconds: 99 of 100 are faster.';
comment on column settled of view accounting.daily_totals is 'The amount that they took out of transit, in units of the asset paid.';
comment on column settled of view accounting.scorecard is 'Of how many the delivery is proved.';
comment on column settled_at of view accounting.conversion is 'When it was delivered.';
comment on column settled_at of view accounting.deposits is 'When the delivery was proved.';
comment on column settled_base of view accounting.daily_totals is 'The amount that they took out of transit, in base units.';
comment on column settlement_address of view accounting.deposits is 'Recipient of the forward, or the id of the StableWallet credited.';
comment on column settlement_amount of view accounting.deposits is 'Amount delivered, in units of the asset.';
comment on column settlement_amount of view accounting.fees is 'Amount delivered, in units of the asset.';
comment on column settlement_amount_base of view accounting.deposits is 'Amount delivered, in base units.';
comment on column settlement_amount_base of view accounting.fees is 'Amount delivered, in base units.';
comment on column settlement_asset of view accounting.deposits is 'Asset delivered.';
comment on column settlement_asset of view accounting.fees is 'Asset delivered, and of the fee.';
comment on column settlement_asset of view accounting.scorecard is 'Asset delivered.';
comment on column settlement_asset_symbol of view accounting.deposits is 'Label of the asset delivered.';
comment on column settlement_asset_symbol of view accounting.fees is 'Label of the asset delivered, which is that of the fee.';
comment on column settlement_asset_symbol of view accounting.scorecard is 'Label of the asset delivered.';
comment on column settlement_network of view accounting.deposits is 'Network on which the deposit was delivered; stable-wallet for a credit.';
comment on column settlement_network of view accounting.fees is 'Network of the delivery; stable-wallet for a credit.';
comment on column settlement_network of view accounting.scorecard is 'Network of the deliveries; stable-wallet for credits, empty while none is stated.';
comment on column settlement_tx of view accounting.deposits is 'Transaction of the forward; empty for a credit.';
comment on column settlements of view accounting.daily_totals is 'The number of deliveries of that day.';
comment on column severe_open of view accounting.period_history is 'How many severe mismatches up to the end of the month were open.';
comment on column severe_open of view accounting.periods is 'How many severe mismatches up to the end of the month were open when it was closed.';
comment on column severity of view accounting.mismatch_ageing is 'info, warning or severe.';
comment on column severity of view accounting.mismatches is 'info, warning or severe.';
comment on column severity of view accounting.value_at_risk is 'info, warning or severe.';
comment on column sha256 of view accounting.period_history is 'SHA-256 of the trial balance that was frozen with it.';
comment on column sha256 of view accounting.periods is 'SHA-256 of the trial balance that was frozen; empty unless it is closed.';
comment on column signed_by of view accounting.checkpoints is 'Name and id of the key that signed it; unsigned if there was none.';
comment on column since of view accounting.coverage_gaps is 'When the gap was first found; empty until then.';
comment on column since of view accounting.credit_safety is 'Since when.';
comment on column since of view accounting.in_transit_age is 'Time of the block that holds the payment, or of the opening.';
comment on column since of view accounting.open_conversions is 'When the delivery happened.';
comment on column since of view accounting.rule_sets is 'When they became active.';
comment on column size of view accounting.checkpoints is 'Number of sealed rows, of all tables.';
comment on column snooze_ends_with of view accounting.mismatches is 'new evidence or a larger loss: what ends a snooze without a time.';
comment on column snoozed_until of view accounting.mismatches is 'When it is to be looked at again.';
comment on column source of view accounting.prices is 'Its source, from the file.';
comment on column stands of view accounting.period_balances is 'False if the month was reopened afterwards.';
comment on column state of view accounting.decisions is 'waiting for a second person, done, rejected, or outdated: what it rests on has changed since.';
comment on column state of view accounting.deposits is 'observed, confirmed, settling, settled, reconciled; or orphaned, refunded, held, failed.';
comment on column state of view accounting.in_transit_age is 'State of the deposit, as the evidence stands now.';
comment on column state of view accounting.open_conversions is 'State of the deposit, as the evidence stands now.';
comment on column state of view accounting.periods is 'open; soft_closed: only adjustments are booked into it; closed: nothing is.';
comment on column state of view accounting.withdrawals is 'What is proved: requested, sent, paid, failed or unproved.';
comment on column status of view accounting.mismatches is 'open; snoozed: open, and looked at later; resolved: by a person; cleared: by evidence.';
comment on column status of view accounting.withdrawals is 'What the service states: requested, sent, settled or failed.';
comment on column steps_known of view accounting.scorecard is 'Statuses of these deposits that the API or the chain knows, of those for which webhooks are to be sent.';
comment on column steps_reported of view accounting.scorecard is 'How many of these a webhook reported.';
comment on column subject of view accounting.mismatches is 'What it is about: deposit/ID, transfer/NETWORK/TX/INDEX, inbox/ID, webhook/EVENT, owner/KIND/ID, network/NAME or balance/NETWORK/ADDRESS/ASSET.';
comment on column text of view accounting.decisions is 'What was signed, as JSON: the change, its grounds, and what it books.';
comment on column text of view accounting.mismatch_history is 'The comment, or the reason.';
comment on column to_height of view accounting.coverage is 'Block or slot up to which the network was read as final.';
comment on column to_height of view accounting.coverage_gaps is 'Last block or slot of the range.';
comment on column transfer of view accounting.withdrawals is 'Its transfer on the chain: network/transaction/index.';
comment on column transfers of view accounting.value_at_risk is 'How many transfers, or claims of one, have a loss.';
comment on column tx of view accounting.deposits is 'Transaction of the payment.';
comment on column tx of view accounting.withdrawals is 'Transaction that the service names.';
comment on column unclaimed of view accounting.daily_totals is 'The part of it in suspense, in units of the asset.';
comment on column unclaimed_base of view accounting.daily_totals is 'The part of it in suspense, in base units.';
comment on column undoes of view accounting.mismatch_history is 'The event that this one takes back; empty for all others.';
comment on column unexplained of view accounting.tie_out is 'Changes of the balance without a known reason, in units of the asset: each is an unexplained_balance.';
comment on column unexplained_base of view accounting.tie_out is 'Changes of the balance without a known reason, in base units.';
comment on column valid_from of view accounting.address_book is 'A payment in an earlier block is not valid; empty if there is no such limit.';
comment on column valid_until of view accounting.address_book is 'A payment in a block of this time or a later one is not valid; empty if the entry has not ended.';
comment on column valuation_id of view accounting.valued_entries is 'Number of the valued journal or revaluation.';
comment on column value of view accounting.mismatch_ageing is 'Losses at the prices that applied when the mismatches opened; empty if there is no price.';
comment on column value of view accounting.valuation is 'amount times price, exact; empty if there is no price.';
comment on column value of view accounting.value_at_risk is 'Losses at the prices that applied when the mismatches opened; empty if there is no price.';
comment on column value of view accounting.valued_balances is 'In the currency; debit balances positive, credit balances negative.';
comment on column value of view accounting.valued_entries is 'In the currency, rounded to its smallest coin; debits positive, credits negative.';
comment on column valued_at of view accounting.valued_entries is 'When it was valued.';
comment on column wallet of view accounting.wallet_balances is 'Id of the StableWallet.';
comment on column wallet of view accounting.withdrawals is 'Id of the StableWallet.';
comment on column webhooks of view accounting.scorecard is 'Webhooks about the sampled deposits, repeats not counted.';
comment on column withdrawal_id of view accounting.withdrawals is 'Id of the withdrawal at the service, unique within the wallet.';
comment on function accounting.in_transit_at(timestamp with time zone,timestamp with time zone) is 'Amounts in transit at a moment: events up to as_of, as recorded up to recorded_as_of. Columns as in accounting.in_transit_age.';
comment on function accounting.in_units(numeric,smallint) is 'Base units as a decimal in units of the asset. Exact: a product of numerics keeps every digit, a quotient would not.';
comment on function accounting.price_at(text,timestamp with time zone) is 'The price that applies to an asset at a moment: the newest one that is not too old; of two for one time, the one imported last. No row without such a price.';
comment on function accounting.scorecard_between(timestamp with time zone,timestamp with time zone) is 'How each deposit service did with the deposits of a span, from the hour of from_at on and in hours that begin before to_at: columns as in accounting.scorecard.';
comment on function accounting.statement(text,timestamp with time zone,timestamp with time zone,bigint) is 'What an owner was credited and debited from from_at on and before to_at, of each of its accounts and assets: a line opening, a line entry for each side of a transfer, and a line closing; what has neither an opening balance nor an entry is left out, unless nothing has. owner: the id of a channel or StableWallet, with its kind before it where both have that id, like channel:shop; or an account. entries_max: how many entries of each account and asset are shown, the oldest first; the line closing counts all of them. amount and balance: in units of the asset, of assets and expenses debits positive, of liabilities, income and equity credits, so that what is owed to the owner is positive; amount_base and balance_base: in base units; kind and deposit_id: of the journal.';
comment on function accounting.trial_balance(timestamp with time zone,timestamp with time zone) is 'Each account and asset: all that was debited and credited up to as_of, as far as it was recorded by recorded_as_of, and the difference. account; code: as other books call it; asset_symbol and asset: its label and key; debit, credit, balance: in units of the asset, debit balances positive; debit_base, credit_base, balance_base: the same in base units.';
comment on function accounting.trial_balance_of(date,timestamp with time zone) is 'Each account and asset: all that was debited and credited in the books of that month and of all before it, as accounting.period_balances freezes it, as far as it was recorded by recorded_as_of. month: any day of it. The columns are those of accounting.trial_balance.';
comment on view accounting.accounts is 'One row per account of the books, with the code and the name that the settings give it.';
comment on view accounting.address_book is 'One row per address and role: who added and approved it, and for payments of which time it is valid.';
comment on view accounting.audit_log is 'What people did, one row each: sign-ins, data that was taken out, webhooks that were retried or dropped, tokens of the API, decisions, work on cases, changes of the rules.';
comment on view accounting.balances is 'Balance of each account in each asset, over all that was ever booked.';
comment on view accounting.checkpoints is 'One row per checkpoint: the root of the tree over the first rows of the log.';
comment on view accounting.conversion is 'One row per journal that settles a payment, with the amounts before and after conversion, before the fee. A reversal is negative. With values and their difference if a currency is set.';
comment on view accounting.coverage is 'One row per watched address: the heights to be read for it, and how many of them were not read.';
comment on view accounting.coverage_gaps is 'Block ranges that were not read for some watched addresses. They are read again automatically.';
comment on view accounting.credit_safety is 'One row per deposit that was ever safe to credit, as it stands now.';
comment on view accounting.daily_totals is 'One row per day, owner and asset: amounts received, and amounts that left transit. A reversal counts against the day of the reversed event.';
comment on view accounting.decisions is 'One row per decision that people signed or were to sign. "ledger verify" checks the signatures.';
comment on view accounting.deposits is 'One row per deposit, as the evidence stands now.';
comment on view accounting.disposals is 'Own funds that were given away, one row per part that was acquired at once. A reversal is negative.';
comment on view accounting.entries is 'Two rows per transfer: the debit side positive, the credit side negative. Per asset they sum to zero.';
comment on view accounting.fees is 'One row per journal that books a fee of the service; a reversal is negative. The sum of those that we bear is the balance of expenses:fees:service.';
comment on view accounting.in_transit_age is 'One row per deposit that is in transit now, with its age. accounting.in_transit_at(as_of, recorded_as_of) is the same for any moment. The sum is the balance of assets:in_transit.';
comment on view accounting.journal is 'One row per journal. A journal is never changed; a correction is a reversal and a new journal.';
comment on view accounting.late_items is 'Journals of a month that was closed when they were booked. They are in the books of a later month.';
comment on view accounting.manual_journals is 'One row per journal that people booked by hand, per reversal of one, per journal that a decision about a deposit booked, and per journal that a restore of the books wrote.';
comment on view accounting.mismatch_ageing is 'Open mismatches by age.';
comment on view accounting.mismatch_history is 'The history of each mismatch: opened, worked on, cleared. Append-only.';
comment on view accounting.mismatches is 'Every mismatch that was ever opened; its status says whether it is open.';
comment on view accounting.open_conversions is 'One row per deposit and asset: a delivery is booked, and what is owed has not moved into the asset delivered, or more or less arrived than is owed. Deposits that are income or own funds are left out.';
comment on view accounting.period_balances is 'Trial balances as they were frozen, one row per close, account and asset, over the books of the month and of all before it.';
comment on view accounting.period_history is 'Closes and reopenings of months, with person and reason. Append-only.';
comment on view accounting.periods is 'One row per month, from the first one with journals to the one that is running.';
comment on view accounting.prices is 'Every price that was imported. A price is never changed; of two prices for one time, the one imported last applies.';
comment on view accounting.rule_sets is 'One row per change of the rules by which deposits are decided. The last one is active.';
comment on view accounting.scorecard is 'How each deposit service did with the deposits of the last 30 days: one row for all of them, and one per route. accounting.scorecard_between(from_at, to_at) is the same for any span of hours.';
comment on view accounting.tie_out is 'One row per deposit address and asset: from the amount in transit in the books to the last proved balance. in_transit + out_of_transit + not_booked + outside + opening + moved + unexplained + difference = balance.';
comment on view accounting.valuation is 'One row per transfer of the books, with its value when it happened: of a deposit that is its receipt, of a settlement the delivery. No row while no currency is set.';
comment on view accounting.value_at_risk is 'Possible losses by open mismatches, per service and asset. If several are about one transfer, the largest loss of each asset counts once, under the service of that loss and the highest severity.';
comment on view accounting.valued_balances is 'What each account holds in each asset, and what it is carried at, over all valued journals. The values sum to zero.';
comment on view accounting.valued_entries is 'The books in the functional currency: what each account gains or loses by a journal or a revaluation. The values of each sum to zero.';
comment on view accounting.wallet_balances is 'The balance of each StableWallet as the service states it, beside its account in the books.';
comment on view accounting.withdrawals is 'Withdrawals from StableWallets that the service lists, with the journal that books each.';
comment on view active_valuation is 'No row while nothing is valued.';
comment on view deposit_report is 'One row per deposit and per transfer that is ignored, as the evidence stands now.';
comment on view ledger_tie is 'One row per deposit address and asset: from the amount in transit to the proved balance.';
comment on view ledger_transit is 'Ledger transfers into transit, as positive amounts, or out of transit.';
comment on view mismatch_loss is 'Every mismatch that was ever opened, with the value of its loss; empty if its asset has no price.';
comment on view open_mismatch is 'Every mismatch that the evidence supports and that no person resolved, snoozed ones included.';

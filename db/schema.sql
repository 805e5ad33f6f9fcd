table public.address_book (
  added_at timestamp with time zone not null default now(),
  address text not null,
  network text not null,
  owner_id text,
  owner_kind text,
  role text not null
);
table public.api_record (
  gone_at timestamp with time zone,
  hash text not null,
  listed_at timestamp with time zone,
  misses integer not null default 0,
  read_at timestamp with time zone not null,
  revision integer not null,
  service_id text not null
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
  tx text not null
);
table public.chain_network (
  assets text[] not null,
  height bigint not null,
  network text not null
);
table public.chain_watch (
  address text not null,
  enrolled_at timestamp with time zone not null default now(),
  from_height bigint not null,
  network text not null,
  number integer not null
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
  service_id text,
  settled_at timestamp with time zone,
  settlement_address text,
  settlement_amount numeric(78,0),
  settlement_asset text,
  settlement_network text,
  settlement_tx text,
  state text not null,
  steps_known smallint not null default 0,
  steps_told smallint not null default 0,
  transfer text,
  tx text,
  updated_at timestamp with time zone not null default now(),
  webhook_at timestamp with time zone
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
table public.inbox (
  body bytea not null,
  headers jsonb not null default '{}'::jsonb,
  id bigint not null generated as identity,
  received_at timestamp with time zone not null,
  source text not null,
  source_key text not null,
  stored_at timestamp with time zone not null default now()
);
table public.inbox_pending (
  inbox_id bigint not null,
  stored_at timestamp with time zone not null default now()
);
table public.ledger_account (
  asset text not null,
  created_at timestamp with time zone not null default now(),
  id text not null
);
table public.ledger_journal (
  deposit_id bigint not null,
  event_at timestamp with time zone not null,
  id bigint not null generated as identity,
  kind text not null,
  posting_key text not null,
  recorded_at timestamp with time zone not null default now(),
  reverses bigint,
  transfer text not null
);
table public.ledger_transfer (
  amount numeric(78,0) not null,
  asset text not null,
  credit text not null,
  debit text not null,
  journal_id bigint not null,
  leg smallint not null
);
table public.link_key (
  group_id bigint not null,
  key text not null
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
  network text,
  opened_at timestamp with time zone not null,
  resolved_at timestamp with time zone,
  resolved_by text,
  resolved_reason text,
  severity text not null,
  snoozed_until timestamp with time zone,
  subject text not null,
  value numeric(78,0)
);
table public.mismatch_event (
  action text not null,
  actor text not null,
  after jsonb,
  approved_by text,
  at timestamp with time zone not null default now(),
  before jsonb,
  id bigint not null generated as identity,
  mismatch_id bigint not null,
  text text
);
table public.mismatch_event_pending (
  event_id bigint not null
);
table public.named_transaction (
  address text not null,
  network text not null,
  next_at timestamp with time zone,
  role text not null,
  tries integer not null default 0,
  tx text not null
);
table public.owner (
  created_at timestamp with time zone not null default now(),
  forward_asset text,
  forward_network text,
  forward_recipient text,
  id text not null,
  kind text not null
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
  size integer not null,
  source text not null
);
table public.sighting (
  address text,
  amount numeric(78,0),
  asset text,
  block_hash text not null,
  height bigint not null,
  inbox_id bigint not null,
  network text not null,
  role text,
  stage text not null,
  transfer text not null
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

constraint address_book_check on address_book: CHECK (((role = 'deposit'::text) = (owner_id IS NOT NULL)));
constraint address_book_owner_kind_owner_id_fkey on address_book: FOREIGN KEY (owner_kind, owner_id) REFERENCES owner(kind, id);
constraint address_book_pkey on address_book: PRIMARY KEY (network, address, role);
constraint address_book_role_check on address_book: CHECK ((role = ANY (ARRAY['deposit'::text, 'recipient'::text])));
constraint api_record_misses_check on api_record: CHECK ((misses >= 0));
constraint api_record_pkey on api_record: PRIMARY KEY (service_id);
constraint api_record_revision_check on api_record: CHECK ((revision >= 0));
constraint asset_decimals_check on asset: CHECK (((decimals >= 0) AND (decimals <= 38)));
constraint asset_pkey on asset: PRIMARY KEY (key);
constraint balance_difference_change_check on balance_difference: CHECK ((change <> (0)::numeric));
constraint balance_difference_check on balance_difference: CHECK ((height > after_height));
constraint balance_difference_network_address_asset_after_height_key on balance_difference: UNIQUE (network, address, asset, after_height);
constraint balance_difference_network_address_asset_fkey on balance_difference: FOREIGN KEY (network, address, asset) REFERENCES balance_point(network, address, asset) ON DELETE CASCADE;
constraint balance_difference_pkey on balance_difference: PRIMARY KEY (id);
constraint balance_point_asset_fkey on balance_point: FOREIGN KEY (asset) REFERENCES asset(key);
constraint balance_point_balance_check on balance_point: CHECK ((balance >= (0)::numeric));
constraint balance_point_check on balance_point: CHECK ((height >= opening_height));
constraint balance_point_check1 on balance_point: CHECK ((reading_height >= height));
constraint balance_point_check2 on balance_point: CHECK (((reading IS NULL) = (reading_height IS NULL)));
constraint balance_point_opening_check on balance_point: CHECK ((opening >= (0)::numeric));
constraint balance_point_opening_height_check on balance_point: CHECK ((opening_height >= '-1'::integer));
constraint balance_point_opening_is_check on balance_point: CHECK ((opening_is = ANY (ARRAY['assumed'::text, 'read'::text, 'left'::text])));
constraint balance_point_pkey on balance_point: PRIMARY KEY (network, address, asset);
constraint balance_point_reading_check on balance_point: CHECK ((reading >= (0)::numeric));
constraint chain_coverage_pkey on chain_coverage: PRIMARY KEY (network, watched, assets);
constraint chain_coverage_watched_check on chain_coverage: CHECK ((watched > 0));
constraint chain_gap_since_pkey on chain_gap_since: PRIMARY KEY (network, watched_from);
constraint chain_movement_change_check on chain_movement: CHECK ((change <> (0)::numeric));
constraint chain_movement_height_check on chain_movement: CHECK ((height >= 0));
constraint chain_movement_pkey on chain_movement: PRIMARY KEY (network, tx, index, asset, address, block_hash);
constraint chain_network_height_check on chain_network: CHECK ((height >= 0));
constraint chain_network_pkey on chain_network: PRIMARY KEY (network);
constraint chain_watch_from_height_check on chain_watch: CHECK ((from_height >= 0));
constraint chain_watch_network_address_key on chain_watch: UNIQUE (network, address);
constraint chain_watch_number_check on chain_watch: CHECK ((number > 0));
constraint chain_watch_pkey on chain_watch: PRIMARY KEY (network, number);
constraint deposit_check on deposit: CHECK ((num_nonnulls(service_id, transfer, merged_into) > 0));
constraint deposit_group_id_fkey on deposit: FOREIGN KEY (group_id) REFERENCES evidence_group(id);
constraint deposit_merged_into_fkey on deposit: FOREIGN KEY (merged_into) REFERENCES deposit(id);
constraint deposit_pkey on deposit: PRIMARY KEY (id);
constraint deposit_service_id_key on deposit: UNIQUE (service_id);
constraint deposit_state_check on deposit: CHECK ((state = ANY (ARRAY['observed'::text, 'confirmed'::text, 'settling'::text, 'settled'::text, 'reconciled'::text, 'orphaned'::text, 'refunded'::text, 'held'::text, 'failed'::text, 'ignored'::text])));
constraint deposit_transfer_key on deposit: UNIQUE (transfer) DEFERRABLE;
constraint evidence_group_id_fkey on evidence: FOREIGN KEY (group_id) REFERENCES evidence_group(id);
constraint evidence_group_pkey on evidence_group: PRIMARY KEY (id);
constraint evidence_inbox_id_fkey on evidence: FOREIGN KEY (inbox_id) REFERENCES inbox(id);
constraint evidence_pkey on evidence: PRIMARY KEY (inbox_id);
constraint inbox_pending_inbox_id_fkey on inbox_pending: FOREIGN KEY (inbox_id) REFERENCES inbox(id);
constraint inbox_pending_pkey on inbox_pending: PRIMARY KEY (inbox_id);
constraint inbox_pkey on inbox: PRIMARY KEY (id);
constraint inbox_source_check on inbox: CHECK ((source = ANY (ARRAY['webhook'::text, 'api'::text, 'chain'::text, 'person'::text])));
constraint inbox_source_key_check on inbox: CHECK ((source_key <> ''::text));
constraint inbox_source_source_key_key on inbox: UNIQUE (source, source_key);
constraint ledger_account_asset_fkey on ledger_account: FOREIGN KEY (asset) REFERENCES asset(key);
constraint ledger_account_id_check on ledger_account: CHECK ((id ~ '^(assets|liabilities|equity|expenses|income):'::text));
constraint ledger_account_pkey on ledger_account: PRIMARY KEY (id, asset);
constraint ledger_journal_check on ledger_journal: CHECK (((kind = 'reversal'::text) = (reverses IS NOT NULL)));
constraint ledger_journal_deposit_id_fkey on ledger_journal: FOREIGN KEY (deposit_id) REFERENCES deposit(id);
constraint ledger_journal_kind_check on ledger_journal: CHECK ((kind = ANY (ARRAY['deposit'::text, 'settlement'::text, 'write_off'::text, 'reversal'::text])));
constraint ledger_journal_pkey on ledger_journal: PRIMARY KEY (id);
constraint ledger_journal_posting_key_key on ledger_journal: UNIQUE (posting_key);
constraint ledger_journal_reversal on ledger_journal: TRIGGER DEFERRABLE INITIALLY DEFERRED;
constraint ledger_journal_reverses_fkey on ledger_journal: FOREIGN KEY (reverses) REFERENCES ledger_journal(id);
constraint ledger_journal_reverses_key on ledger_journal: UNIQUE (reverses);
constraint ledger_transfer_amount_check on ledger_transfer: CHECK ((amount > (0)::numeric));
constraint ledger_transfer_check on ledger_transfer: CHECK ((credit <> debit));
constraint ledger_transfer_credit_asset_fkey on ledger_transfer: FOREIGN KEY (credit, asset) REFERENCES ledger_account(id, asset);
constraint ledger_transfer_debit_asset_fkey on ledger_transfer: FOREIGN KEY (debit, asset) REFERENCES ledger_account(id, asset);
constraint ledger_transfer_journal_id_fkey on ledger_transfer: FOREIGN KEY (journal_id) REFERENCES ledger_journal(id);
constraint ledger_transfer_leg_check on ledger_transfer: CHECK ((leg > 0));
constraint ledger_transfer_pkey on ledger_transfer: PRIMARY KEY (journal_id, leg);
constraint link_key_group_id_fkey on link_key: FOREIGN KEY (group_id) REFERENCES evidence_group(id);
constraint link_key_pkey on link_key: PRIMARY KEY (key);
constraint mismatch_assigned_to_check on mismatch: CHECK ((assigned_to <> ''::text));
constraint mismatch_check on mismatch: CHECK (((cleared_at IS NULL) = (cleared_how IS NULL)));
constraint mismatch_cleared_how_check on mismatch: CHECK ((cleared_how = ANY (ARRAY['evidence'::text, 'person'::text])));
constraint mismatch_deposit_id_fkey on mismatch: FOREIGN KEY (deposit_id) REFERENCES deposit(id);
constraint mismatch_event_action_check on mismatch_event: CHECK ((action = ANY (ARRAY['assigned'::text, 'commented'::text, 'snoozed'::text, 'resolved'::text, 'reopened'::text, 'written_off'::text, 'write_off_withdrawn'::text, 'matched'::text, 'split'::text])));
constraint mismatch_event_actor_check on mismatch_event: CHECK ((actor <> ''::text));
constraint mismatch_event_check on mismatch_event: CHECK (((action = ANY (ARRAY['assigned'::text, 'snoozed'::text])) OR (text IS NOT NULL)));
constraint mismatch_event_check1 on mismatch_event: CHECK ((lower(approved_by) <> lower(actor)));
constraint mismatch_event_mismatch_id_fkey on mismatch_event: FOREIGN KEY (mismatch_id) REFERENCES mismatch(id);
constraint mismatch_event_pending_event_id_fkey on mismatch_event_pending: FOREIGN KEY (event_id) REFERENCES mismatch_event(id);
constraint mismatch_event_pending_pkey on mismatch_event_pending: PRIMARY KEY (event_id);
constraint mismatch_event_pkey on mismatch_event: PRIMARY KEY (id);
constraint mismatch_event_text_check on mismatch_event: CHECK ((text <> ''::text));
constraint mismatch_group_id_fkey on mismatch: FOREIGN KEY (group_id) REFERENCES evidence_group(id);
constraint mismatch_pkey on mismatch: PRIMARY KEY (id);
constraint mismatch_resolved_by_check on mismatch: CHECK ((resolved_by <> ''::text));
constraint mismatch_resolved_check on mismatch: CHECK ((num_nulls(resolved_at, resolved_by, resolved_reason) = ANY (ARRAY[0, 3])));
constraint mismatch_resolved_reason_check on mismatch: CHECK ((resolved_reason <> ''::text));
constraint mismatch_severity_check on mismatch: CHECK ((severity = ANY (ARRAY['info'::text, 'warning'::text, 'severe'::text])));
constraint named_transaction_pkey on named_transaction: PRIMARY KEY (network, tx, role, address);
constraint named_transaction_role_check on named_transaction: CHECK ((role = ANY (ARRAY['deposit'::text, 'recipient'::text])));
constraint named_transaction_tries_check on named_transaction: CHECK ((tries >= 0));
constraint owner_check on owner: CHECK (((kind = 'channel'::text) = (forward_recipient IS NOT NULL)));
constraint owner_check1 on owner: CHECK (((kind = 'channel'::text) = (forward_network IS NOT NULL)));
constraint owner_id_check on owner: CHECK ((id <> ''::text));
constraint owner_kind_check on owner: CHECK ((kind = ANY (ARRAY['channel'::text, 'stable_wallet'::text])));
constraint owner_pkey on owner: PRIMARY KEY (kind, id);
constraint proposal_check on proposal: CHECK (((state = 'proposed'::text) = (ended_at IS NULL)));
constraint proposal_pkey on proposal: PRIMARY KEY (id);
constraint proposal_role_check on proposal: CHECK ((role = ANY (ARRAY['deposit'::text, 'recipient'::text])));
constraint proposal_score_check on proposal: CHECK (((score >= 1) AND (score <= 100)));
constraint proposal_service_id_role_transfer_key on proposal: UNIQUE (service_id, role, transfer);
constraint proposal_state_check on proposal: CHECK ((state = ANY (ARRAY['proposed'::text, 'accepted'::text, 'rejected'::text, 'withdrawn'::text])));
constraint quarantine_pkey on quarantine: PRIMARY KEY (id);
constraint quarantine_size_check on quarantine: CHECK ((size > 0));
constraint sighting_height_check on sighting: CHECK ((height >= 0));
constraint sighting_inbox_id_fkey on sighting: FOREIGN KEY (inbox_id) REFERENCES inbox(id);
constraint sighting_pkey on sighting: PRIMARY KEY (inbox_id);
constraint sighting_role_check on sighting: CHECK ((role = ANY (ARRAY['deposit'::text, 'recipient'::text])));
constraint sighting_stage_check on sighting: CHECK ((stage = ANY (ARRAY['seen'::text, 'final'::text, 'orphaned'::text])));
constraint stream_pkey on stream: PRIMARY KEY (name);
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

CREATE INDEX address_book_owner ON public.address_book USING btree (owner_kind, owner_id) WHERE (owner_id IS NOT NULL);
CREATE INDEX api_record_missed ON public.api_record USING btree (misses) WHERE ((misses > 0) AND (gone_at IS NULL));
CREATE INDEX chain_movement_address ON public.chain_movement USING btree (network, address, asset, height);
CREATE INDEX chain_movement_height ON public.chain_movement USING btree (network, height);
CREATE INDEX deposit_group_id ON public.deposit USING btree (group_id);
CREATE INDEX deposit_open ON public.deposit USING btree (state, network) WHERE (state <> ALL (ARRAY['reconciled'::text, 'refunded'::text, 'failed'::text, 'ignored'::text]));
CREATE INDEX deposit_since ON public.deposit USING btree (COALESCE(deposited_at, LEAST(webhook_at, api_at))) WHERE (merged_into IS NULL);
CREATE INDEX deposit_tx ON public.deposit USING btree (tx);
CREATE INDEX evidence_group_id ON public.evidence USING btree (group_id);
CREATE INDEX evidence_group_recheck_at ON public.evidence_group USING btree (recheck_at) WHERE (recheck_at IS NOT NULL);
CREATE INDEX inbox_pending_stored_at ON public.inbox_pending USING btree (stored_at);
CREATE INDEX ledger_journal_deposit_id ON public.ledger_journal USING btree (deposit_id);
CREATE INDEX ledger_journal_event_at ON public.ledger_journal USING btree (event_at);
CREATE INDEX ledger_journal_transfer ON public.ledger_journal USING btree (transfer);
CREATE INDEX ledger_journal_write_off ON public.ledger_journal USING btree (deposit_id) WHERE (kind = 'write_off'::text);
CREATE INDEX ledger_transfer_credit ON public.ledger_transfer USING btree (credit, asset);
CREATE INDEX ledger_transfer_debit ON public.ledger_transfer USING btree (debit, asset);
CREATE INDEX link_key_group_id ON public.link_key USING btree (group_id);
CREATE INDEX mismatch_deposit_id ON public.mismatch USING btree (deposit_id);
CREATE INDEX mismatch_event_mismatch_id ON public.mismatch_event USING btree (mismatch_id);
CREATE INDEX mismatch_group_open ON public.mismatch USING btree (group_id) WHERE (cleared_at IS NULL);
CREATE INDEX mismatch_open_kind ON public.mismatch USING btree (kind, id) WHERE (cleared_at IS NULL);
CREATE INDEX named_transaction_due ON public.named_transaction USING btree (network, next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX owner_forward ON public.owner USING btree (forward_network, forward_recipient) WHERE (forward_recipient IS NOT NULL);
CREATE INDEX sighting_height ON public.sighting USING btree (network, height);
CREATE INDEX sighting_received ON public.sighting USING btree (network, address, asset, height) WHERE ((stage = 'final'::text) AND (role = 'deposit'::text));
CREATE INDEX sighting_transfer ON public.sighting USING btree (transfer);
CREATE INDEX sighting_unfilled ON public.sighting USING btree (inbox_id) WHERE (role IS NULL);
CREATE UNIQUE INDEX address_book_pkey ON public.address_book USING btree (network, address, role);
CREATE UNIQUE INDEX api_record_pkey ON public.api_record USING btree (service_id);
CREATE UNIQUE INDEX asset_pkey ON public.asset USING btree (key);
CREATE UNIQUE INDEX balance_difference_network_address_asset_after_height_key ON public.balance_difference USING btree (network, address, asset, after_height);
CREATE UNIQUE INDEX balance_difference_pkey ON public.balance_difference USING btree (id);
CREATE UNIQUE INDEX balance_point_pkey ON public.balance_point USING btree (network, address, asset);
CREATE UNIQUE INDEX chain_coverage_pkey ON public.chain_coverage USING btree (network, watched, assets);
CREATE UNIQUE INDEX chain_gap_since_pkey ON public.chain_gap_since USING btree (network, watched_from);
CREATE UNIQUE INDEX chain_movement_pkey ON public.chain_movement USING btree (network, tx, index, asset, address, block_hash);
CREATE UNIQUE INDEX chain_network_pkey ON public.chain_network USING btree (network);
CREATE UNIQUE INDEX chain_watch_network_address_key ON public.chain_watch USING btree (network, address);
CREATE UNIQUE INDEX chain_watch_pkey ON public.chain_watch USING btree (network, number);
CREATE UNIQUE INDEX deposit_pkey ON public.deposit USING btree (id);
CREATE UNIQUE INDEX deposit_service_id_key ON public.deposit USING btree (service_id);
CREATE UNIQUE INDEX deposit_transfer_key ON public.deposit USING btree (transfer);
CREATE UNIQUE INDEX evidence_group_pkey ON public.evidence_group USING btree (id);
CREATE UNIQUE INDEX evidence_pkey ON public.evidence USING btree (inbox_id);
CREATE UNIQUE INDEX inbox_pending_pkey ON public.inbox_pending USING btree (inbox_id);
CREATE UNIQUE INDEX inbox_pkey ON public.inbox USING btree (id);
CREATE UNIQUE INDEX inbox_source_source_key_key ON public.inbox USING btree (source, source_key);
CREATE UNIQUE INDEX ledger_account_pkey ON public.ledger_account USING btree (id, asset);
CREATE UNIQUE INDEX ledger_journal_pkey ON public.ledger_journal USING btree (id);
CREATE UNIQUE INDEX ledger_journal_posting_key_key ON public.ledger_journal USING btree (posting_key);
CREATE UNIQUE INDEX ledger_journal_reverses_key ON public.ledger_journal USING btree (reverses);
CREATE UNIQUE INDEX ledger_transfer_pkey ON public.ledger_transfer USING btree (journal_id, leg);
CREATE UNIQUE INDEX link_key_pkey ON public.link_key USING btree (key);
CREATE UNIQUE INDEX mismatch_event_pending_pkey ON public.mismatch_event_pending USING btree (event_id);
CREATE UNIQUE INDEX mismatch_event_pkey ON public.mismatch_event USING btree (id);
CREATE UNIQUE INDEX mismatch_open ON public.mismatch USING btree (subject, kind) WHERE (cleared_at IS NULL);
CREATE UNIQUE INDEX mismatch_pkey ON public.mismatch USING btree (id);
CREATE UNIQUE INDEX named_transaction_pkey ON public.named_transaction USING btree (network, tx, role, address);
CREATE UNIQUE INDEX owner_pkey ON public.owner USING btree (kind, id);
CREATE UNIQUE INDEX proposal_open_deposit ON public.proposal USING btree (role, service_id) WHERE (state = 'proposed'::text);
CREATE UNIQUE INDEX proposal_open_transfer ON public.proposal USING btree (role, transfer) WHERE (state = 'proposed'::text);
CREATE UNIQUE INDEX proposal_pkey ON public.proposal USING btree (id);
CREATE UNIQUE INDEX proposal_service_id_role_transfer_key ON public.proposal USING btree (service_id, role, transfer);
CREATE UNIQUE INDEX quarantine_pkey ON public.quarantine USING btree (id);
CREATE UNIQUE INDEX sighting_pkey ON public.sighting USING btree (inbox_id);
CREATE UNIQUE INDEX stream_pkey ON public.stream USING btree (name);
CREATE UNIQUE INDEX webhook_conflict_inbox_id_key ON public.webhook_conflict USING btree (inbox_id);
CREATE UNIQUE INDEX webhook_conflict_pkey ON public.webhook_conflict USING btree (first_id, sha256);
CREATE UNIQUE INDEX webhook_repeat_pkey ON public.webhook_repeat USING btree (inbox_id);

view accounting.balances as
 SELECT b.account,
    a.symbol AS asset_symbol,
    b.asset,
    accounting.in_units(b.balance, a.decimals) AS balance,
    b.balance AS balance_base
   FROM (ledger_balance b
     JOIN asset a ON ((a.key = b.asset)));
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
view accounting.deposits as
 SELECT id,
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
    j.event_at,
    j.recorded_at
   FROM ((ledger_entry e
     JOIN ledger_journal j ON ((j.id = e.journal_id)))
     JOIN asset a ON ((a.key = e.asset)));
view accounting.journal as
 SELECT id,
    posting_key,
    kind,
    deposit_id,
    reverses,
    event_at,
    recorded_at
   FROM ledger_journal j;
view accounting.mismatch_ageing as
 SELECT stakes.kind,
    stakes.severity,
    a.symbol AS asset_symbol,
    stakes.asset,
    stakes.bucket,
    stakes.from_age,
    (sum(stakes.mismatches))::bigint AS mismatches,
    accounting.in_units(sum(stakes.value), a.decimals) AS amount,
    sum(stakes.value) AS amount_base
   FROM (( SELECT open_mismatch.kind,
            open_mismatch.severity,
            open_mismatch.asset,
            open_mismatch.stake,
            aged.bucket,
            aged.from_age,
            count(*) AS mismatches,
            max(open_mismatch.value) AS value
           FROM (open_mismatch
             CROSS JOIN LATERAL ( SELECT buckets.bucket,
                    buckets.from_age
                   FROM ( VALUES ('< 1 h'::text,'00:00:00'::interval), ('< 24 h'::text,'01:00:00'::interval), ('< 3 d'::text,'24:00:00'::interval), ('< 7 d'::text,'3 days'::interval), ('< 30 d'::text,'7 days'::interval), ('older'::text,'30 days'::interval)) buckets(bucket, from_age)
                  WHERE (buckets.from_age <= GREATEST((now() - open_mismatch.opened_at), '00:00:00'::interval))
                  ORDER BY buckets.from_age DESC
                 LIMIT 1) aged)
          GROUP BY open_mismatch.kind, open_mismatch.severity, open_mismatch.asset, open_mismatch.stake, aged.bucket, aged.from_age) stakes
     LEFT JOIN asset a ON ((a.key = stakes.asset)))
  GROUP BY stakes.kind, stakes.severity, a.symbol, a.decimals, stakes.asset, stakes.bucket, stakes.from_age;
view accounting.mismatch_history as
 SELECT m.id AS mismatch_id,
    m.opened_at AS at,
    'depositd'::text AS actor,
    'opened'::text AS action,
    NULL::text AS text,
    NULL::text AS approved_by,
    NULL::jsonb AS before,
    NULL::jsonb AS after
   FROM mismatch m
UNION ALL
 SELECT mismatch_event.mismatch_id,
    mismatch_event.at,
    mismatch_event.actor,
    mismatch_event.action,
    mismatch_event.text,
    mismatch_event.approved_by,
    mismatch_event.before,
    mismatch_event.after
   FROM mismatch_event
UNION ALL
 SELECT m.id AS mismatch_id,
    m.cleared_at AS at,
    'depositd'::text AS actor,
    'cleared'::text AS action,
    NULL::text AS text,
    NULL::text AS approved_by,
    NULL::jsonb AS before,
    NULL::jsonb AS after
   FROM mismatch m
  WHERE (m.cleared_at IS NOT NULL);
view accounting.mismatches as
 SELECT m.id,
    m.kind,
    m.severity,
    m.deposit_id,
    m.subject,
    m.network,
    a.symbol AS asset_symbol,
    m.asset,
    accounting.in_units(m.value, a.decimals) AS amount,
    m.value AS amount_base,
    m.detail,
    m.opened_at,
    m.cleared_at,
    m.cleared_how,
    (COALESCE(LEAST(m.resolved_at, m.cleared_at), now()) - m.opened_at) AS age,
        CASE
            WHEN (m.cleared_at IS NOT NULL) THEN 'cleared'::text
            WHEN (m.resolved_at IS NOT NULL) THEN 'resolved'::text
            WHEN (m.snoozed_until > now()) THEN 'snoozed'::text
            ELSE 'open'::text
        END AS status,
    m.assigned_to,
    m.snoozed_until,
    m.resolved_at,
    m.resolved_by,
    m.resolved_reason AS reason
   FROM (mismatch m
     LEFT JOIN asset a ON ((a.key = m.asset)));
view accounting.scorecard as
 SELECT scope,
    network,
    asset_symbol,
    asset,
    settlement_network,
    settlement_asset_symbol,
    settlement_asset,
    deposits,
    settled,
    steps_known,
    steps_told,
    completeness,
    webhooks,
    duplicates,
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
   FROM accounting.scorecard_between((now() - '30 days'::interval), now()) scorecard_between(scope, network, asset_symbol, asset, settlement_network, settlement_asset_symbol, settlement_asset, deposits, settled, steps_known, steps_told, completeness, webhooks, duplicates, delivery_p50_seconds, delivery_p95_seconds, delivery_p99_seconds, settle_p50_seconds, settle_p95_seconds, settle_p99_seconds, paid, delivered, fee, fee_share, delivered_per_paid);
view accounting.value_at_risk as
 SELECT a.symbol AS asset_symbol,
    s.asset,
    s.severity,
    count(*) AS transfers,
    accounting.in_units(sum(s.value), a.decimals) AS amount,
    sum(s.value) AS amount_base
   FROM (( SELECT DISTINCT ON (open_mismatch.asset, open_mismatch.stake) open_mismatch.asset,
            open_mismatch.stake,
            open_mismatch.severity,
            open_mismatch.value
           FROM open_mismatch
          WHERE (open_mismatch.value IS NOT NULL)
          ORDER BY open_mismatch.asset, open_mismatch.stake, (array_position(ARRAY['severe'::text, 'warning'::text, 'info'::text], open_mismatch.severity)), open_mismatch.value DESC) s
     JOIN asset a ON ((a.key = s.asset)))
  GROUP BY a.symbol, a.decimals, s.asset, s.severity;
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
view public.deposit_report as
 SELECT d.id,
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
    ledger_transfer.amount
   FROM ledger_transfer
UNION ALL
 SELECT ledger_transfer.journal_id,
    ledger_transfer.leg,
    ledger_transfer.credit AS account,
    ledger_transfer.asset,
    (- ledger_transfer.amount) AS amount
   FROM ledger_transfer;
view public.open_mismatch as
 SELECT m.id,
    m.subject,
    m.kind,
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
          WHERE ((o.tx = d.tx) AND (o.network = d.network) AND (o.address = d.address) AND (o.asset = d.asset))), "substring"(m.subject, '^transfer/(.*)$'::text), m.subject) AS stake
   FROM (mismatch m
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

CREATE OR REPLACE FUNCTION accounting.in_units(amount numeric, decimals smallint)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (amount * (('1e-'::text || decimals))::numeric)
;
CREATE OR REPLACE FUNCTION accounting.scorecard_between(from_at timestamp with time zone, to_at timestamp with time zone)
 RETURNS TABLE(scope text, network text, asset_symbol text, asset text, settlement_network text, settlement_asset_symbol text, settlement_asset text, deposits bigint, settled bigint, steps_known bigint, steps_told bigint, completeness numeric, webhooks bigint, duplicates bigint, delivery_p50_seconds double precision, delivery_p95_seconds double precision, delivery_p99_seconds double precision, settle_p50_seconds double precision, settle_p95_seconds double precision, settle_p99_seconds double precision, paid numeric, delivered numeric, fee numeric, fee_share numeric, delivered_per_paid numeric)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  with chosen as (
    select * from deposit d
    where d.merged_into is null and d.state <> 'ignored'
      and coalesce(d.deposited_at, least(d.webhook_at, d.api_at)) >= from_at
      and coalesce(d.deposited_at, least(d.webhook_at, d.api_at)) < to_at
  ), message as (
    select c.asset, c.settlement_asset, coalesce(r.count, 0) as repeats,
      greatest(extract(epoch from i.received_at - (e.observation ->> 'occurredAt')::timestamptz), 0)::float8 as lag
    from chosen c
      join evidence e on e.group_id = c.group_id and e.observation ->> 'serviceId' = c.service_id
      join inbox i on i.id = e.inbox_id and i.source = 'webhook'
      left join webhook_repeat r on r.inbox_id = i.id
  ), told as (
    select grouping(asset) as is_all, asset, settlement_asset, count(*) as webhooks, sum(repeats)::bigint as duplicates,
      percentile_cont(array[0.5, 0.95, 0.99]) within group (order by lag) as lag
    from message group by grouping sets ((), (asset, settlement_asset))
  ), done as (
    select grouping(asset) as is_all, asset, settlement_asset, count(*) as deposits, count(settled_at) as settled,
      sum(steps_known)::bigint as steps_known, sum(steps_told)::bigint as steps_told,
      percentile_cont(array[0.5, 0.95, 0.99]) within group (
        order by greatest(extract(epoch from settled_at - final_at), 0)::float8
      ) filter (where settled_at is not null and final_at is not null) as settle,
      sum(amount) filter (where settled_at is not null) as paid,
      sum(settlement_amount) filter (where settled_at is not null) as delivered,
      sum(fee_amount) filter (where settled_at is not null) as fee,
      sum(settlement_amount + fee_amount) filter (where settled_at is not null) as before_fee
    from chosen group by grouping sets ((), (asset, settlement_asset))
  )
  select case when done.is_all = 1 then 'service' else 'route' end,
    a.network, a.symbol, done.asset, s.network, s.symbol, done.settlement_asset,
    done.deposits, done.settled, coalesce(done.steps_known, 0), coalesce(done.steps_told, 0),
    done.steps_told::numeric / nullif(done.steps_known, 0),
    coalesce(told.webhooks, 0), coalesce(told.duplicates, 0),
    told.lag[1], told.lag[2], told.lag[3], done.settle[1], done.settle[2], done.settle[3],
    accounting.in_units(done.paid, a.decimals), accounting.in_units(done.delivered, s.decimals),
    accounting.in_units(done.fee, s.decimals),
    case when s.key is not null then done.fee / nullif(done.before_fee, 0) end,
    accounting.in_units(done.delivered, s.decimals) / nullif(accounting.in_units(done.paid, a.decimals), 0)
  from done
    left join told on told.is_all = done.is_all and told.asset is not distinct from done.asset
      and told.settlement_asset is not distinct from done.settlement_asset
    left join asset a on a.key = done.asset
    left join asset s on s.key = done.settlement_asset
  order by done.is_all desc, a.network, a.symbol, s.network, s.symbol
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
  if exists (select 1 from ledger_journal where id = new.reverses and kind = 'reversal') then
    raise exception 'journal % is a reversal and cannot be reversed', new.reverses;
  end if;
  if exists (
    (select leg, debit, credit, asset, amount from ledger_transfer where journal_id = new.reverses
      except select leg, credit, debit, asset, amount from ledger_transfer where journal_id = new.id)
    union all
    (select leg, credit, debit, asset, amount from ledger_transfer where journal_id = new.id
      except select leg, debit, credit, asset, amount from ledger_transfer where journal_id = new.reverses)
  ) then
    raise exception 'journal % does not mirror journal %, which it reverses', new.id, new.reverses;
  end if;
  return null;
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
      select distinct on (s.transfer) s.amount from sighting s
      where s.network = of_network and s.address = of_address and s.asset = of_asset
        and s.height > above and s.height <= up_to and s.stage = 'final' and s.role = 'deposit'
        and not exists (
          select 1 from sighting gone
          where gone.transfer = s.transfer and gone.stage = 'orphaned' and gone.inbox_id > s.inbox_id
        )
      order by s.transfer, s.inbox_id desc
    ) as received)
    + (select coalesce(sum(m.change), 0) from chain_movement m
      where m.network = of_network and m.address = of_address and m.asset = of_asset
        and m.height > above and m.height <= up_to)
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
CREATE OR REPLACE FUNCTION public.refuse_late_transfer()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (
    select 1 from added join ledger_journal journal on journal.id = added.journal_id
    where journal.xmin <> pg_current_xact_id()::xid
  ) then
    raise exception 'ledger_transfer: the journal is already booked; post a new one';
  end if;
  return null;
end
$function$
;

CREATE CONSTRAINT TRIGGER ledger_journal_reversal AFTER INSERT ON public.ledger_journal DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.reverses IS NOT NULL)) EXECUTE FUNCTION check_reversal();
CREATE TRIGGER chain_movement_unaltered BEFORE UPDATE OR TRUNCATE ON public.chain_movement FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER inbox_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.inbox FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_account_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.ledger_account FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_journal_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.ledger_journal FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_transfer_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.ledger_transfer FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_transfer_late AFTER INSERT ON public.ledger_transfer REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_late_transfer();
CREATE TRIGGER mismatch_event_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.mismatch_event FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER webhook_conflict_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.webhook_conflict FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

grant delete, insert, select on public.chain_movement to depositd_daemon;
grant delete, insert, select on public.quarantine to depositd_daemon;
grant delete, insert, select, update on public.address_book to depositd_daemon;
grant delete, insert, select, update on public.balance_difference to depositd_daemon;
grant delete, insert, select, update on public.balance_point to depositd_daemon;
grant delete, insert, select, update on public.chain_coverage to depositd_daemon;
grant delete, insert, select, update on public.chain_gap_since to depositd_daemon;
grant delete, insert, select, update on public.inbox_pending to depositd_daemon;
grant delete, insert, select, update on public.mismatch_event_pending to depositd_daemon;
grant delete, insert, select, update on public.named_transaction to depositd_daemon;
grant insert, select on public.inbox to depositd_daemon;
grant insert, select on public.ledger_account to depositd_daemon;
grant insert, select on public.ledger_balance to depositd_daemon;
grant insert, select on public.ledger_entry to depositd_daemon;
grant insert, select on public.ledger_journal to depositd_daemon;
grant insert, select on public.ledger_transfer to depositd_daemon;
grant insert, select on public.mismatch_event to depositd_daemon;
grant insert, select on public.sighting to depositd_daemon;
grant insert, select on public.webhook_conflict to depositd_daemon;
grant insert, select, update on public.api_record to depositd_daemon;
grant insert, select, update on public.asset to depositd_daemon;
grant insert, select, update on public.chain_network to depositd_daemon;
grant insert, select, update on public.chain_watch to depositd_daemon;
grant insert, select, update on public.deposit to depositd_daemon;
grant insert, select, update on public.evidence to depositd_daemon;
grant insert, select, update on public.evidence_group to depositd_daemon;
grant insert, select, update on public.link_key to depositd_daemon;
grant insert, select, update on public.mismatch to depositd_daemon;
grant insert, select, update on public.owner to depositd_daemon;
grant insert, select, update on public.proposal to depositd_daemon;
grant insert, select, update on public.stream to depositd_daemon;
grant insert, select, update on public.webhook_repeat to depositd_daemon;
grant select on accounting.balances to depositd_accountant;
grant select on accounting.balances to depositd_daemon;
grant select on accounting.coverage to depositd_accountant;
grant select on accounting.coverage to depositd_daemon;
grant select on accounting.coverage_gaps to depositd_accountant;
grant select on accounting.coverage_gaps to depositd_daemon;
grant select on accounting.deposits to depositd_accountant;
grant select on accounting.deposits to depositd_daemon;
grant select on accounting.entries to depositd_accountant;
grant select on accounting.entries to depositd_daemon;
grant select on accounting.journal to depositd_accountant;
grant select on accounting.journal to depositd_daemon;
grant select on accounting.mismatch_ageing to depositd_accountant;
grant select on accounting.mismatch_ageing to depositd_daemon;
grant select on accounting.mismatch_history to depositd_accountant;
grant select on accounting.mismatch_history to depositd_daemon;
grant select on accounting.mismatches to depositd_accountant;
grant select on accounting.mismatches to depositd_daemon;
grant select on accounting.scorecard to depositd_accountant;
grant select on accounting.scorecard to depositd_daemon;
grant select on accounting.value_at_risk to depositd_accountant;
grant select on accounting.value_at_risk to depositd_daemon;
grant select on public.chain_gap to depositd_daemon;
grant select on public.deposit_report to depositd_daemon;
grant select on public.open_mismatch to depositd_daemon;
grant select on public.possible_match to depositd_daemon;
grant select on public.unnamed_transfer to depositd_daemon;

comment on column account of view accounting.balances is 'Account, for example assets:in_transit:base.';
comment on column account of view accounting.entries is 'Account, for example assets:in_transit:base.';
comment on column action of view accounting.mismatch_history is 'opened, assigned, commented, snoozed, resolved, reopened, written_off, write_off_withdrawn, matched, split or cleared.';
comment on column actor of view accounting.mismatch_history is 'Who did it, by the name that was given; depositd where evidence did.';
comment on column address of view accounting.coverage is 'The address.';
comment on column address of view accounting.deposits is 'Deposit address that was paid.';
comment on column addresses of view accounting.coverage_gaps is 'For how many addresses it was not read.';
comment on column after of view accounting.mismatch_history is 'What it changed, as it was then; of a decision about money, what was decided.';
comment on column age of view accounting.mismatches is 'From opened_at until it was resolved or cleared, or to now while open.';
comment on column amount of view accounting.deposits is 'Amount paid, in units of the asset.';
comment on column amount of view accounting.entries is 'In units of the asset; debits positive, credits negative.';
comment on column amount of view accounting.mismatch_ageing is 'Value at stake, in units of the asset, each transfer once.';
comment on column amount of view accounting.mismatches is 'Value at stake, in units of the asset.';
comment on column amount of view accounting.value_at_risk is 'Their sum, in units of the asset.';
comment on column amount_base of view accounting.deposits is 'Amount paid, in smallest units.';
comment on column amount_base of view accounting.entries is 'In smallest units; debits positive, credits negative.';
comment on column amount_base of view accounting.mismatch_ageing is 'Value at stake, in smallest units, each transfer once.';
comment on column amount_base of view accounting.mismatches is 'Value at stake, in smallest units.';
comment on column amount_base of view accounting.value_at_risk is 'Their sum, in smallest units.';
comment on column approved_by of view accounting.mismatch_history is 'The second person, where one was asked for.';
comment on column asset of view accounting.balances is 'Asset: network/contract, network/mint or network/native.';
comment on column asset of view accounting.deposits is 'Asset paid: network/contract, network/mint or network/native.';
comment on column asset of view accounting.entries is 'Asset: network/contract, network/mint or network/native.';
comment on column asset of view accounting.mismatch_ageing is 'Asset at stake; empty where none is.';
comment on column asset of view accounting.mismatches is 'Asset at stake.';
comment on column asset of view accounting.scorecard is 'Asset paid.';
comment on column asset of view accounting.value_at_risk is 'Asset: network/contract, network/mint or network/native.';
comment on column asset_symbol of view accounting.balances is 'Label of the asset.';
comment on column asset_symbol of view accounting.deposits is 'Label of the asset paid. Not unique: two tokens may share it.';
comment on column asset_symbol of view accounting.entries is 'Label of the asset.';
comment on column asset_symbol of view accounting.mismatch_ageing is 'Label of the asset at stake.';
comment on column asset_symbol of view accounting.mismatches is 'Label of the asset at stake.';
comment on column asset_symbol of view accounting.scorecard is 'Label of the asset paid.';
comment on column asset_symbol of view accounting.value_at_risk is 'Label of the asset.';
comment on column assigned_to of view accounting.mismatches is 'Who looks after it.';
comment on column at of view accounting.mismatch_history is 'When it was done.';
comment on column balance of view accounting.balances is 'In units of the asset; debit balances positive, credit balances negative.';
comment on column balance_base of view accounting.balances is 'In smallest units; debit balances positive, credit balances negative.';
comment on column before of view accounting.mismatch_history is 'What it changed, as it was before.';
comment on column bucket of view accounting.mismatch_ageing is '< 1 h, < 24 h, < 3 d, < 7 d, < 30 d or older, each without those before it.';
comment on column cleared_at of view accounting.mismatches is 'When the evidence held it no more; empty until then.';
comment on column cleared_how of view accounting.mismatches is 'evidence: what was missing arrived; person: somebody decided.';
comment on column completeness of view accounting.scorecard is 'steps_told by steps_known: 1 where no webhook is missing.';
comment on column delivered of view accounting.scorecard is 'Delivered for them, in units of the asset delivered.';
comment on column delivered_per_paid of view accounting.scorecard is 'Units delivered for one unit paid, fees and exchange included.';
comment on column delivery_p50_seconds of view accounting.scorecard is 'From an event to its webhook, in seconds: half are faster.';
comment on column delivery_p95_seconds of view accounting.scorecard is 'From an event to its webhook, in seconds: 95 of 100 are faster.';
comment on column delivery_p99_seconds of view accounting.scorecard is 'From an event to its webhook, in seconds: 99 of 100 are faster.';
comment on column deposit_id of view accounting.entries is 'The deposit it belongs to.';
comment on column deposit_id of view accounting.journal is 'The deposit it belongs to.';
comment on column deposit_id of view accounting.mismatches is 'The deposit it is about, where there is one.';
comment on column deposited_at of view accounting.deposits is 'Time of the block that holds the payment.';
comment on column deposits of view accounting.scorecard is 'How many deposits.';
comment on column detail of view accounting.mismatches is 'What each side says.';
comment on column duplicates of view accounting.scorecard is 'How often one of them came again.';
comment on column enrolled_at of view accounting.coverage is 'When reading took it up.';
comment on column event_at of view accounting.entries is 'When it happened in the world.';
comment on column event_at of view accounting.journal is 'When it happened in the world.';
comment on column fee of view accounting.deposits is 'Fee the service states, in units of the asset delivered.';
comment on column fee of view accounting.scorecard is 'Fees that the service states for them, in units of the asset delivered.';
comment on column fee_base of view accounting.deposits is 'Fee the service states, in smallest units.';
comment on column fee_share of view accounting.scorecard is 'Effective fee: fee by delivered and fee together, of those for which a fee is stated.';
comment on column final_at of view accounting.deposits is 'When the payment was read as final.';
comment on column from_age of view accounting.mismatch_ageing is 'Least age in the bucket. Sort by it.';
comment on column from_height of view accounting.coverage is 'Block or slot from which on its transfers are wanted.';
comment on column from_height of view accounting.coverage_gaps is 'First block or slot of it.';
comment on column id of view accounting.deposits is 'Our number of the deposit, as in "depositd deposits show ID".';
comment on column id of view accounting.journal is 'Number of the journal.';
comment on column id of view accounting.mismatches is 'Number of the mismatch.';
comment on column journal_id of view accounting.entries is 'Journal the entry belongs to.';
comment on column kind of view accounting.entries is 'Kind of the journal.';
comment on column kind of view accounting.journal is 'deposit, settlement, write_off or reversal.';
comment on column kind of view accounting.mismatch_ageing is 'What is wrong; docs/mismatches.md explains each kind.';
comment on column kind of view accounting.mismatches is 'What is wrong; docs/mismatches.md explains each kind.';
comment on column leg of view accounting.entries is 'Number of the transfer inside its journal.';
comment on column mismatch_id of view accounting.mismatch_history is 'Number of the mismatch.';
comment on column mismatches of view accounting.mismatch_ageing is 'How many are open.';
comment on column missing_heights of view accounting.coverage is 'How many of these heights were not read for this address and every asset; 0 where reading is complete.';
comment on column network of view accounting.coverage is 'Network on which it is watched.';
comment on column network of view accounting.coverage_gaps is 'Network of the stretch.';
comment on column network of view accounting.deposits is 'Network on which the payment arrived.';
comment on column network of view accounting.mismatches is 'Network it is about.';
comment on column network of view accounting.scorecard is 'Network of the payments; empty for the whole service.';
comment on column opened_at of view accounting.mismatches is 'When it was noticed.';
comment on column owner_id of view accounting.deposits is 'Whom the deposit is for: the id given when the channel or wallet was created.';
comment on column owner_kind of view accounting.deposits is 'channel or stable_wallet.';
comment on column paid of view accounting.scorecard is 'Paid by the settled deposits of the route, in units of the asset paid.';
comment on column posting_key of view accounting.entries is 'Posting key of the journal.';
comment on column posting_key of view accounting.journal is 'What was booked. Unique, so that nothing is booked twice.';
comment on column reason of view accounting.mismatches is 'Why it was resolved.';
comment on column reconciled_at of view accounting.deposits is 'When all required sources first agreed.';
comment on column recorded_at of view accounting.entries is 'When it was written.';
comment on column recorded_at of view accounting.journal is 'When it was written.';
comment on column resolved_at of view accounting.mismatches is 'When a person resolved it; empty once new evidence or a person opened it again.';
comment on column resolved_by of view accounting.mismatches is 'Who resolved it.';
comment on column reverses of view accounting.journal is 'The journal that this one takes back.';
comment on column scope of view accounting.scorecard is 'service: all deposits; route: those of one asset paid and one asset delivered.';
comment on column service_id of view accounting.deposits is 'The deposit service''s own id; empty while the service has not reported it.';
comment on column settle_p50_seconds of view accounting.scorecard is 'From a final payment to its proved delivery, in seconds: half are faster.';
comment on column settle_p95_seconds of view accounting.scorecard is 'From a final payment to its proved delivery, in seconds: 95 of 100 are faster.';
comment on column settle_p99_seconds of view accounting.scorecard is 'From a final payment to its proved delivery, in seconds: 99 of 100 are faster.';
comment on column settled of view accounting.scorecard is 'Of how many the delivery is proved.';
comment on column settled_at of view accounting.deposits is 'When the delivery was proved.';
comment on column settlement_address of view accounting.deposits is 'Recipient of the forward, or the id of the StableWallet credited.';
comment on column settlement_amount of view accounting.deposits is 'Amount delivered, in units of the asset.';
comment on column settlement_amount_base of view accounting.deposits is 'Amount delivered, in smallest units.';
comment on column settlement_asset of view accounting.deposits is 'Asset delivered.';
comment on column settlement_asset of view accounting.scorecard is 'Asset delivered.';
comment on column settlement_asset_symbol of view accounting.deposits is 'Label of the asset delivered.';
comment on column settlement_asset_symbol of view accounting.scorecard is 'Label of the asset delivered.';
comment on column settlement_network of view accounting.deposits is 'Network on which the deposit was delivered; stable-wallet for a credit.';
comment on column settlement_network of view accounting.scorecard is 'Network of the deliveries; stable-wallet for credits, empty while none is stated.';
comment on column settlement_tx of view accounting.deposits is 'Transaction of the forward; empty for a credit.';
comment on column severity of view accounting.mismatch_ageing is 'info, warning or severe.';
comment on column severity of view accounting.mismatches is 'info, warning or severe.';
comment on column severity of view accounting.value_at_risk is 'info, warning or severe.';
comment on column since of view accounting.coverage_gaps is 'Since when it is known to be open; empty until it was first looked at.';
comment on column snoozed_until of view accounting.mismatches is 'When it is to be looked at again.';
comment on column state of view accounting.deposits is 'observed, confirmed, settling, settled, reconciled; or orphaned, refunded, held, failed.';
comment on column status of view accounting.mismatches is 'open; snoozed: open, and looked at later; resolved: by a person; cleared: by evidence.';
comment on column steps_known of view accounting.scorecard is 'Statuses of these deposits that the API or the chain knows, of those for which webhooks are to be sent.';
comment on column steps_told of view accounting.scorecard is 'Of how many of these a webhook told.';
comment on column subject of view accounting.mismatches is 'What it is about: deposit/ID, transfer/NETWORK/TX/INDEX, inbox/ID, webhook/EVENT, owner/KIND/ID, network/NAME or balance/NETWORK/ADDRESS/ASSET.';
comment on column text of view accounting.mismatch_history is 'The comment, or the reason.';
comment on column to_height of view accounting.coverage is 'Block or slot up to which the network was read as final.';
comment on column to_height of view accounting.coverage_gaps is 'Last block or slot of it.';
comment on column transfers of view accounting.value_at_risk is 'How many transfers, or claims of one.';
comment on column tx of view accounting.deposits is 'Transaction of the payment.';
comment on column webhooks of view accounting.scorecard is 'Webhooks about these deposits, repeats not counted.';
comment on function accounting.in_units(numeric,smallint) is 'An integer of smallest units as a decimal in units of the asset. Exact: a product of numerics keeps every digit, which a quotient would not.';
comment on function accounting.scorecard_between(timestamp with time zone,timestamp with time zone) is 'How the deposit service did with the deposits of a span, from from_at on and before to_at: columns as in accounting.scorecard.';
comment on view accounting.balances is 'Balance of each account in each asset, over all that was ever booked.';
comment on view accounting.coverage is 'One row per watched address: the heights that are wanted of it, and how many of them were not read.';
comment on view accounting.coverage_gaps is 'Stretches of heights that were not read for some watched addresses. They are read by themselves.';
comment on view accounting.deposits is 'One row per deposit, as the evidence stands now.';
comment on view accounting.entries is 'Two rows per transfer: the debit side positive, the credit side negative. Per asset they sum to zero.';
comment on view accounting.journal is 'One row per journal. A journal is never changed; a correction is a reversal and a new journal.';
comment on view accounting.mismatch_ageing is 'Open mismatches by how long they have been open. No row where there is none.';
comment on view accounting.mismatch_history is 'What became of each mismatch: opened, everything that was done about it, cleared. It is only ever added to.';
comment on view accounting.mismatches is 'Every mismatch that was ever opened; its status says whether it is open.';
comment on view accounting.scorecard is 'How the deposit service did with the deposits of the last 30 days: one row for all of them, and one per route. accounting.scorecard_between(from_at, to_at) is the same for any span.';
comment on view accounting.value_at_risk is 'What open mismatches are about. A transfer that several are about is counted once, under the gravest of them.';
comment on view deposit_report is 'One row per deposit and per transfer that is ignored, as the evidence stands now.';
comment on view open_mismatch is 'Every mismatch that holds and that nobody resolved, also while it is snoozed.';

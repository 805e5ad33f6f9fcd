table service.api_key (
  created_at timestamp with time zone not null default clock_timestamp(),
  hash bytea not null,
  id text not null,
  name text not null,
  revoked_at timestamp with time zone,
  scope text not null
);
table service.delivery (
  attempts integer not null default 0,
  created_at timestamp with time zone not null default clock_timestamp(),
  ended_at timestamp with time zone,
  endpoint_id text not null,
  event_id text not null,
  next_at timestamp with time zone default clock_timestamp(),
  sequence bigint not null generated as identity,
  status text not null default 'pending'::text,
  tries integer not null default 0
);
table service.delivery_attempt (
  answer text,
  duration_ms integer,
  endpoint_id text not null,
  event_id text not null,
  number integer not null,
  problem text,
  started_at timestamp with time zone not null,
  status_code smallint
);
table service.deposit (
  address text not null,
  amount numeric(78,0) not null,
  asset text not null,
  block bigint not null,
  block_at timestamp with time zone not null,
  block_hash text,
  contract text,
  created_at timestamp with time zone not null default clock_timestamp(),
  decimals smallint not null,
  fee numeric(78,0),
  id text not null,
  index text not null,
  network text not null,
  owner_id text not null,
  owner_kind text not null,
  rate text,
  reason text,
  refund_address text,
  refund_amount numeric(78,0),
  refund_at timestamp with time zone,
  refund_transaction text,
  released_at timestamp with time zone,
  revision integer not null default 1,
  sender text,
  sequence bigint not null generated as identity,
  status text not null,
  sweep_id bigint,
  to_address text not null,
  to_amount numeric(78,0),
  to_asset text not null,
  to_at timestamp with time zone,
  to_contract text,
  to_decimals smallint not null,
  to_network text,
  to_transaction text,
  transaction text not null,
  updated_at timestamp with time zone not null default clock_timestamp()
);
table service.event (
  body text not null,
  created_at timestamp with time zone not null,
  deposit_id text,
  id text not null,
  revision integer,
  sequence bigint not null generated as identity,
  type text not null
);
table service.owner (
  branch integer not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  evm_address text not null,
  forward_asset text,
  forward_network text,
  forward_recipient text,
  id text not null,
  kind text not null,
  sequence bigint not null generated as identity,
  solana_address text not null
);
table service.policy (
  body jsonb not null,
  owner_id text not null,
  owner_kind text not null,
  updated_at timestamp with time zone not null default clock_timestamp()
);
table service.signing (
  amount numeric(78,0) not null,
  bytes bytea not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  expires_height bigint,
  transaction text not null,
  transfer_id bigint not null,
  version smallint not null default 1
);
table service.stream (
  final_hash text,
  final_height bigint not null,
  liquidity_address text not null,
  network text not null,
  seen_hash text,
  seen_height bigint not null
);
table service.transfer (
  amount numeric(78,0) not null,
  asset text not null,
  attempt smallint not null default 1,
  branch integer not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  deposit_id text,
  id bigint not null generated as identity,
  kind text not null,
  network text not null,
  nonce bigint,
  outcome text,
  to_address text not null,
  transaction text,
  withdrawal bigint
);
table service.webhook_endpoint (
  configured boolean not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  disabled_because text,
  id text not null,
  resume_at timestamp with time zone,
  sequence bigint not null generated as identity,
  status text not null default 'active'::text,
  types text[],
  url text not null
);
table service.webhook_secret (
  created_at timestamp with time zone not null default clock_timestamp(),
  endpoint_id text not null,
  expires_at timestamp with time zone,
  public_key text,
  scheme text not null,
  sealed bytea not null,
  version integer not null
);
table service.withdrawal (
  amount numeric(78,0) not null,
  asset text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  id text not null,
  network text not null,
  owner_kind text not null default 'stable_wallet'::text,
  recipient text not null,
  sequence bigint not null generated as identity,
  settled_at timestamp with time zone,
  status text not null default 'requested'::text,
  transaction text,
  updated_at timestamp with time zone not null default clock_timestamp(),
  wallet_id text not null
);

constraint api_key_hash_check on service.api_key: CHECK ((length(hash) = 32));
constraint api_key_hash_key on service.api_key: UNIQUE (hash);
constraint api_key_id_check on service.api_key: CHECK ((id ~ '^[0-9a-f]{8}$'::text));
constraint api_key_name_check on service.api_key: CHECK (((length(name) >= 1) AND (length(name) <= 100)));
constraint api_key_pkey on service.api_key: PRIMARY KEY (id);
constraint api_key_scope_check on service.api_key: CHECK ((scope = ANY (ARRAY['read'::text, 'write'::text])));
constraint delivery_attempt_answer_check on service.delivery_attempt: CHECK ((length(answer) <= 500));
constraint delivery_attempt_check on service.delivery_attempt: CHECK ((num_nonnulls(status_code, problem) = num_nonnulls(duration_ms)));
constraint delivery_attempt_duration_ms_check on service.delivery_attempt: CHECK ((duration_ms >= 0));
constraint delivery_attempt_event_id_endpoint_id_fkey on service.delivery_attempt: FOREIGN KEY (event_id, endpoint_id) REFERENCES service.delivery(event_id, endpoint_id);
constraint delivery_attempt_number_check on service.delivery_attempt: CHECK ((number > 0));
constraint delivery_attempt_pkey on service.delivery_attempt: PRIMARY KEY (event_id, endpoint_id, number);
constraint delivery_ended_has_time on service.delivery: CHECK (((status = 'pending'::text) = (ended_at IS NULL)));
constraint delivery_endpoint_id_fkey on service.delivery: FOREIGN KEY (endpoint_id) REFERENCES service.webhook_endpoint(id);
constraint delivery_event_id_fkey on service.delivery: FOREIGN KEY (event_id) REFERENCES service.event(id);
constraint delivery_pending_has_next on service.delivery: CHECK (((status = 'pending'::text) = (next_at IS NOT NULL)));
constraint delivery_pkey on service.delivery: PRIMARY KEY (event_id, endpoint_id);
constraint delivery_sequence_key on service.delivery: UNIQUE (sequence);
constraint delivery_status_check on service.delivery: CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text, 'cancelled'::text])));
constraint delivery_tries_within_attempts on service.delivery: CHECK (((tries >= 0) AND (tries <= attempts)));
constraint deposit_amount_check on service.deposit: CHECK ((amount > (0)::numeric));
constraint deposit_channel_has_network on service.deposit: CHECK (((owner_kind = 'channel'::text) = (to_network IS NOT NULL)));
constraint deposit_converting on service.deposit: CHECK (((status = 'converting'::text) <= (owner_kind = 'channel'::text)));
constraint deposit_decimals_check on service.deposit: CHECK ((decimals >= 0));
constraint deposit_delivery_has_time on service.deposit: CHECK (((status = ANY (ARRAY['settled'::text, 'credited'::text])) <= (to_at IS NOT NULL)));
constraint deposit_fee_check on service.deposit: CHECK ((fee >= (0)::numeric));
constraint deposit_forward_has_transaction on service.deposit: CHECK (((status = ANY (ARRAY['forwarding'::text, 'settled'::text])) <= (to_transaction IS NOT NULL)));
constraint deposit_has_event on service.deposit: FOREIGN KEY (id, revision) REFERENCES service.event(deposit_id, revision) DEFERRABLE INITIALLY DEFERRED;
constraint deposit_held on service.deposit: CHECK (((status = 'held'::text) <= (to_transaction IS NULL)));
constraint deposit_owner_kind_owner_id_fkey on service.deposit: FOREIGN KEY (owner_kind, owner_id) REFERENCES service.owner(kind, id);
constraint deposit_pkey on service.deposit: PRIMARY KEY (id);
constraint deposit_quoted on service.deposit: CHECK (((status = ANY (ARRAY['converting'::text, 'forwarding'::text, 'settled'::text, 'credited'::text])) <= (num_nonnulls(to_amount, fee, rate) = 3)));
constraint deposit_reason on service.deposit: CHECK (
CASE
    WHEN (status = 'failed'::text) THEN COALESCE((reason = ANY (ARRAY['vanished'::text, 'too_small'::text])), false)
    WHEN (status = 'held'::text) THEN COALESCE((reason = ANY (ARRAY['policy_hold'::text, 'below_minimum'::text, 'asset_denied'::text, 'sender_denied'::text, 'sender_unknown'::text, 'undeliverable'::text, 'price_missing'::text])), false)
    WHEN (status = ANY (ARRAY['refunding'::text, 'refunded'::text])) THEN COALESCE((reason = ANY (ARRAY['below_minimum'::text, 'asset_denied'::text, 'sender_denied'::text, 'requested'::text])), false)
    ELSE (reason IS NULL)
END);
constraint deposit_refund_amount_check on service.deposit: CHECK ((refund_amount > (0)::numeric));
constraint deposit_refunded on service.deposit: CHECK ((((status = 'refunded'::text) <= (num_nonnulls(refund_transaction, refund_at) = 2)) AND ((refund_transaction IS NOT NULL) <= (status = ANY (ARRAY['refunding'::text, 'refunded'::text]))) AND ((refund_at IS NOT NULL) = (status = 'refunded'::text))));
constraint deposit_refunding on service.deposit: CHECK ((((status = ANY (ARRAY['refunding'::text, 'refunded'::text])) = (num_nonnulls(refund_address, refund_amount) = 2)) AND (num_nonnulls(refund_address, refund_amount) = ANY (ARRAY[0, 2])) AND (num_nonnulls(to_transaction, refund_address) < 2)));
constraint deposit_sequence_key on service.deposit: UNIQUE (sequence);
constraint deposit_status on service.deposit: CHECK ((status = ANY (ARRAY['detected'::text, 'confirmed'::text, 'converting'::text, 'forwarding'::text, 'settled'::text, 'credited'::text, 'held'::text, 'refunding'::text, 'refunded'::text, 'failed'::text])));
constraint deposit_status_of_owner on service.deposit: CHECK ((((status = 'settled'::text) <= (owner_kind = 'channel'::text)) AND ((status = 'credited'::text) <= (owner_kind = 'stable_wallet'::text))));
constraint deposit_sweep_id_fkey on service.deposit: FOREIGN KEY (sweep_id) REFERENCES service.transfer(id);
constraint deposit_to_amount_check on service.deposit: CHECK ((to_amount >= (0)::numeric));
constraint deposit_to_decimals_check on service.deposit: CHECK ((to_decimals >= 0));
constraint event_deposit_id_fkey on service.event: FOREIGN KEY (deposit_id) REFERENCES service.deposit(id);
constraint event_deposit_id_revision_key on service.event: UNIQUE (deposit_id, revision);
constraint event_pkey on service.event: PRIMARY KEY (id);
constraint event_sequence_key on service.event: UNIQUE (sequence);
constraint event_type_check on service.event: CHECK (
CASE
    WHEN ((type = 'endpoint.test'::text) OR (type ~ '^withdrawal\.[a-z]+$'::text)) THEN (num_nonnulls(deposit_id, revision) = 0)
    ELSE ((type ~ '^deposit\.[a-z]+$'::text) AND (num_nonnulls(deposit_id, revision) = 2))
END);
constraint owner_branch_check on service.owner: CHECK ((branch > 0));
constraint owner_check on service.owner: CHECK ((num_nonnulls(forward_network, forward_asset, forward_recipient) =
CASE kind
    WHEN 'channel'::text THEN 3
    ELSE 0
END));
constraint owner_evm_address_key on service.owner: UNIQUE (evm_address);
constraint owner_id_check on service.owner: CHECK (((length(id) >= 1) AND (length(id) <= 128)));
constraint owner_kind_check on service.owner: CHECK ((kind = ANY (ARRAY['channel'::text, 'stable_wallet'::text])));
constraint owner_kind_id_key on service.owner: UNIQUE (kind, id);
constraint owner_pkey on service.owner: PRIMARY KEY (branch);
constraint owner_solana_address_key on service.owner: UNIQUE (solana_address);
constraint policy_body_check on service.policy: CHECK ((jsonb_typeof(body) = 'object'::text));
constraint policy_owner_kind_owner_id_fkey on service.policy: FOREIGN KEY (owner_kind, owner_id) REFERENCES service.owner(kind, id);
constraint policy_pkey on service.policy: PRIMARY KEY (owner_kind, owner_id);
constraint signing_amount_check on service.signing: CHECK ((amount > (0)::numeric));
constraint signing_pkey on service.signing: PRIMARY KEY (transaction);
constraint signing_transfer_id_fkey on service.signing: FOREIGN KEY (transfer_id) REFERENCES service.transfer(id);
constraint signing_transfer_id_version_key on service.signing: UNIQUE (transfer_id, version);
constraint signing_version_check on service.signing: CHECK ((version > 0));
constraint stream_check on service.stream: CHECK ((seen_height >= final_height));
constraint stream_pkey on service.stream: PRIMARY KEY (network);
constraint transfer_amount_check on service.transfer: CHECK ((amount > (0)::numeric));
constraint transfer_attempt_check on service.transfer: CHECK ((attempt > 0));
constraint transfer_branch_check on service.transfer: CHECK ((branch >= 0));
constraint transfer_deposit_id_fkey on service.transfer: FOREIGN KEY (deposit_id) REFERENCES service.deposit(id);
constraint transfer_deposit_id_kind_attempt_key on service.transfer: UNIQUE (deposit_id, kind, attempt);
constraint transfer_kind_check on service.transfer: CHECK ((kind = ANY (ARRAY['forward'::text, 'refund'::text, 'withdrawal'::text, 'sweep'::text, 'top_up'::text, 'extra'::text])));
constraint transfer_network_branch_nonce_key on service.transfer: UNIQUE (network, branch, nonce);
constraint transfer_of_deposit on service.transfer: CHECK (((kind = ANY (ARRAY['forward'::text, 'refund'::text, 'extra'::text])) = (deposit_id IS NOT NULL)));
constraint transfer_of_withdrawal on service.transfer: CHECK (((kind = 'withdrawal'::text) = (withdrawal IS NOT NULL)));
constraint transfer_outcome_check on service.transfer: CHECK ((outcome = ANY (ARRAY['landed'::text, 'reverted'::text, 'expired'::text])));
constraint transfer_outcome_has_transaction on service.transfer: CHECK ((COALESCE((outcome = ANY (ARRAY['landed'::text, 'reverted'::text])), false) <= (transaction IS NOT NULL)));
constraint transfer_pkey on service.transfer: PRIMARY KEY (id);
constraint transfer_sweep_branch on service.transfer: CHECK (((kind = 'sweep'::text) = (branch > 0)));
constraint transfer_withdrawal_attempt_key on service.transfer: UNIQUE (withdrawal, attempt);
constraint transfer_withdrawal_fkey on service.transfer: FOREIGN KEY (withdrawal) REFERENCES service.withdrawal(sequence);
constraint webhook_endpoint_check on service.webhook_endpoint: CHECK (((status = 'disabled'::text) = (disabled_because IS NOT NULL)));
constraint webhook_endpoint_disabled_because_check on service.webhook_endpoint: CHECK ((disabled_because = ANY (ARRAY['gone'::text, 'requested'::text])));
constraint webhook_endpoint_id_check on service.webhook_endpoint: CHECK ((id ~ '^wep_[0-9a-f]{24}$'::text));
constraint webhook_endpoint_pkey on service.webhook_endpoint: PRIMARY KEY (id);
constraint webhook_endpoint_sequence_key on service.webhook_endpoint: UNIQUE (sequence);
constraint webhook_endpoint_status_check on service.webhook_endpoint: CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text, 'deleted'::text])));
constraint webhook_endpoint_types_check on service.webhook_endpoint: CHECK ((cardinality(types) > 0));
constraint webhook_endpoint_url_check on service.webhook_endpoint: CHECK ((length(url) <= 2000));
constraint webhook_secret_check on service.webhook_secret: CHECK (((scheme = 'v1a'::text) = (public_key IS NOT NULL)));
constraint webhook_secret_endpoint_id_fkey on service.webhook_secret: FOREIGN KEY (endpoint_id) REFERENCES service.webhook_endpoint(id);
constraint webhook_secret_pkey on service.webhook_secret: PRIMARY KEY (endpoint_id, version);
constraint webhook_secret_scheme_check on service.webhook_secret: CHECK ((scheme = ANY (ARRAY['v1'::text, 'v1a'::text])));
constraint webhook_secret_version_check on service.webhook_secret: CHECK ((version > 0));
constraint withdrawal_amount_check on service.withdrawal: CHECK ((amount > (0)::numeric));
constraint withdrawal_id_check on service.withdrawal: CHECK (((length(id) >= 1) AND (length(id) <= 128)));
constraint withdrawal_owner_kind_check on service.withdrawal: CHECK ((owner_kind = 'stable_wallet'::text));
constraint withdrawal_owner_kind_wallet_id_fkey on service.withdrawal: FOREIGN KEY (owner_kind, wallet_id) REFERENCES service.owner(kind, id);
constraint withdrawal_pkey on service.withdrawal: PRIMARY KEY (sequence);
constraint withdrawal_sent_has_transaction on service.withdrawal: CHECK (((status = ANY (ARRAY['sending'::text, 'settled'::text])) <= (transaction IS NOT NULL)));
constraint withdrawal_settled_has_time on service.withdrawal: CHECK (((status = 'settled'::text) = (settled_at IS NOT NULL)));
constraint withdrawal_status_check on service.withdrawal: CHECK ((status = ANY (ARRAY['requested'::text, 'sending'::text, 'settled'::text, 'failed'::text])));
constraint withdrawal_wallet_id_id_key on service.withdrawal: UNIQUE (wallet_id, id);

CREATE INDEX delivery_due ON service.delivery USING btree (endpoint_id, next_at, sequence) WHERE (next_at IS NOT NULL);
CREATE INDEX delivery_newest ON service.delivery USING btree (endpoint_id, sequence);
CREATE INDEX deposit_created ON service.deposit USING btree (created_at);
CREATE INDEX deposit_credited ON service.deposit USING btree (owner_kind, owner_id) INCLUDE (to_amount) WHERE (status = 'credited'::text);
CREATE INDEX deposit_network ON service.deposit USING btree (network, sequence);
CREATE INDEX deposit_open ON service.deposit USING btree (network, status, sequence) WHERE (status = ANY (ARRAY['detected'::text, 'confirmed'::text]));
CREATE INDEX deposit_owner ON service.deposit USING btree (owner_id);
CREATE INDEX deposit_refund_transaction ON service.deposit USING btree (refund_transaction) WHERE (refund_transaction IS NOT NULL);
CREATE INDEX deposit_status_list ON service.deposit USING btree (status, sequence);
CREATE INDEX deposit_swept ON service.deposit USING btree (sweep_id) WHERE (sweep_id IS NOT NULL);
CREATE INDEX deposit_to_convert ON service.deposit USING btree (network, sequence) WHERE ((status = 'confirmed'::text) OR (reason = 'price_missing'::text));
CREATE INDEX deposit_to_forward ON service.deposit USING btree (to_network, sequence) WHERE (status = ANY (ARRAY['converting'::text, 'forwarding'::text]));
CREATE INDEX deposit_to_refund ON service.deposit USING btree (network, sequence) WHERE (status = 'refunding'::text);
CREATE INDEX deposit_to_transaction ON service.deposit USING btree (to_transaction);
CREATE INDEX deposit_transaction ON service.deposit USING btree (transaction);
CREATE INDEX deposit_unswept ON service.deposit USING btree (network, sequence) WHERE ((sweep_id IS NULL) AND (status <> 'detected'::text) AND (reason IS DISTINCT FROM 'vanished'::text));
CREATE INDEX deposit_updated ON service.deposit USING btree (updated_at);
CREATE INDEX event_type ON service.event USING btree (type, sequence);
CREATE INDEX transfer_open ON service.transfer USING btree (network, id) WHERE (outcome IS NULL);
CREATE INDEX withdrawal_open ON service.withdrawal USING btree (network, sequence) WHERE (status = ANY (ARRAY['requested'::text, 'sending'::text]));
CREATE UNIQUE INDEX api_key_hash_key ON service.api_key USING btree (hash);
CREATE UNIQUE INDEX api_key_pkey ON service.api_key USING btree (id);
CREATE UNIQUE INDEX delivery_attempt_pkey ON service.delivery_attempt USING btree (event_id, endpoint_id, number);
CREATE UNIQUE INDEX delivery_pkey ON service.delivery USING btree (event_id, endpoint_id);
CREATE UNIQUE INDEX delivery_sequence_key ON service.delivery USING btree (sequence);
CREATE UNIQUE INDEX deposit_once ON service.deposit USING btree (network, transaction, index) WHERE (reason IS DISTINCT FROM 'vanished'::text);
CREATE UNIQUE INDEX deposit_pkey ON service.deposit USING btree (id);
CREATE UNIQUE INDEX deposit_sequence_key ON service.deposit USING btree (sequence);
CREATE UNIQUE INDEX event_deposit_id_revision_key ON service.event USING btree (deposit_id, revision);
CREATE UNIQUE INDEX event_pkey ON service.event USING btree (id);
CREATE UNIQUE INDEX event_sequence_key ON service.event USING btree (sequence);
CREATE UNIQUE INDEX owner_evm_address_key ON service.owner USING btree (evm_address);
CREATE UNIQUE INDEX owner_kind_id_key ON service.owner USING btree (kind, id);
CREATE UNIQUE INDEX owner_list ON service.owner USING btree (kind, sequence);
CREATE UNIQUE INDEX owner_pkey ON service.owner USING btree (branch);
CREATE UNIQUE INDEX owner_solana_address_key ON service.owner USING btree (solana_address);
CREATE UNIQUE INDEX policy_pkey ON service.policy USING btree (owner_kind, owner_id);
CREATE UNIQUE INDEX signing_pkey ON service.signing USING btree (transaction);
CREATE UNIQUE INDEX signing_transfer_id_version_key ON service.signing USING btree (transfer_id, version);
CREATE UNIQUE INDEX stream_pkey ON service.stream USING btree (network);
CREATE UNIQUE INDEX sweep_one_by_one ON service.transfer USING btree (network, branch) WHERE ((kind = 'sweep'::text) AND (outcome IS NULL));
CREATE UNIQUE INDEX top_up_one_by_one ON service.transfer USING btree (network, to_address) WHERE ((kind = 'top_up'::text) AND (outcome IS NULL));
CREATE UNIQUE INDEX transfer_deposit_id_kind_attempt_key ON service.transfer USING btree (deposit_id, kind, attempt);
CREATE UNIQUE INDEX transfer_network_branch_nonce_key ON service.transfer USING btree (network, branch, nonce);
CREATE UNIQUE INDEX transfer_once ON service.transfer USING btree (deposit_id) WHERE ((kind = ANY (ARRAY['forward'::text, 'refund'::text])) AND ((outcome IS NULL) OR (outcome = 'landed'::text)));
CREATE UNIQUE INDEX transfer_pkey ON service.transfer USING btree (id);
CREATE UNIQUE INDEX transfer_withdrawal_attempt_key ON service.transfer USING btree (withdrawal, attempt);
CREATE UNIQUE INDEX webhook_endpoint_pkey ON service.webhook_endpoint USING btree (id);
CREATE UNIQUE INDEX webhook_endpoint_sequence_key ON service.webhook_endpoint USING btree (sequence);
CREATE UNIQUE INDEX webhook_endpoint_url ON service.webhook_endpoint USING btree (url) WHERE (status <> 'deleted'::text);
CREATE UNIQUE INDEX webhook_secret_newest ON service.webhook_secret USING btree (endpoint_id) WHERE (expires_at IS NULL);
CREATE UNIQUE INDEX webhook_secret_pkey ON service.webhook_secret USING btree (endpoint_id, version);
CREATE UNIQUE INDEX withdrawal_once ON service.transfer USING btree (withdrawal) WHERE ((kind = 'withdrawal'::text) AND ((outcome IS NULL) OR (outcome = 'landed'::text)));
CREATE UNIQUE INDEX withdrawal_pkey ON service.withdrawal USING btree (sequence);
CREATE UNIQUE INDEX withdrawal_wallet_id_id_key ON service.withdrawal USING btree (wallet_id, id);



CREATE OR REPLACE FUNCTION service.check_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'UPDATE' then
    raise exception 'event % cannot be changed', old.id;
  end if;
  if new.type like 'deposit.%'
    and not exists (select from service.deposit where id = new.deposit_id and revision = new.revision) then
    raise exception 'event % reports revision % of %, which is not its current one', new.id, new.revision, new.deposit_id;
  end if;
  return new;
end
$function$
;
CREATE OR REPLACE FUNCTION service.count_revision()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$
;
CREATE OR REPLACE FUNCTION service.keep_revoked()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if old.revoked_at is not null or new.hash <> old.hash then
    raise exception 'API key % is revoked, or its hash would change', old.id;
  end if;
  return new;
end
$function$
;

CREATE TRIGGER api_key_revoked BEFORE UPDATE ON service.api_key FOR EACH ROW EXECUTE FUNCTION service.keep_revoked();
CREATE TRIGGER deposit_revision BEFORE UPDATE ON service.deposit FOR EACH ROW EXECUTE FUNCTION service.count_revision();
CREATE TRIGGER event_tells_state BEFORE INSERT OR UPDATE ON service.event FOR EACH ROW EXECUTE FUNCTION service.check_event();



comment on table service.api_key is 'Keys of the API. Only their hashes are stored.';
comment on table service.delivery is 'One event on its way to one webhook endpoint.';
comment on table service.delivery_attempt is 'The delivery log: every request to a webhook endpoint and its answer.';
comment on table service.owner is 'Owners of deposit addresses: a channel with its forwarding rule, or a StableWallet.';
comment on table service.policy is 'Rules that override the forwarding or crediting of one owner''s deposits.';
comment on table service.signing is 'Signed transfers, stored before they are sent, so that a restart sends the same bytes again. A later version has the same nonce and a higher fee: only one version lands.';
comment on table service.stream is 'Per network: how far it was read, and the next nonce of the liquidity wallet.';
comment on table service.transfer is 'Each attempt to move money: to recipients, back to senders, out of wallets, and between the service''s own addresses.';
comment on table service.webhook_endpoint is 'Receivers of webhooks. A deleted one stays for the history of its deliveries.';
comment on table service.withdrawal is 'Withdrawals from the balance of a StableWallet, as its owner requested them.';

create table service.api_key (
  -- The part of the key that may be shown: `dsk_{id}_{secret}`.
  id text primary key check (id ~ '^[0-9a-f]{8}$'),
  -- SHA-256 of the whole key. The secret has 192 random bits, so a slow hash would guard nothing more.
  hash bytea not null unique check (length(hash) = 32),
  name text not null check (length(name) between 1 and 100),
  scope text not null check (scope in ('read', 'write')),
  created_at timestamptz not null default clock_timestamp(),
  revoked_at timestamptz
);
comment on table service.api_key is 'Who may call the API. The keys themselves are kept nowhere.';

-- Revoking is for good: whoever wants to call again gets another key.
create function service.keep_revoked() returns trigger language plpgsql as $$
begin
  if old.revoked_at is not null or new.hash <> old.hash then
    raise exception 'API key % is revoked, or would become another key', old.id;
  end if;
  return new;
end
$$;

create trigger api_key_revoked before update on service.api_key
  for each row execute function service.keep_revoked();

-- The daemon may log in as a user that owns nothing and is only a member of depositd_daemon. What a start wrote as the
-- owner so far, it writes as that role now, and no wider than it needs.

-- How accounts are called elsewhere, as the settings say it. Nobody else writes that table.
create function keep_account_labels(patterns text[], codes text[], names text[]) returns boolean
language plpgsql security definer set search_path = pg_catalog, public, pg_temp set lock_timeout = '30s' as $$
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
$$;
revoke execute on function keep_account_labels from public;
grant execute on function keep_account_labels to depositd_daemon;

-- By its decimals every amount of an asset is read: from the first deposit on they stay as they are, whoever asks.
create function hold_decimals() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if exists (select from public.deposit where old.key in (asset, settlement_asset)) then
    raise exception 'asset %: amounts were kept by % decimals', old.key, old.decimals
      using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
create trigger asset_holds_decimals before update on asset
  for each row when (old.decimals <> new.decimals) execute function hold_decimals();
revoke update on asset from depositd_daemon;
grant update (symbol, decimals) on asset to depositd_daemon;

-- Reads everything, for copies, also what later migrations and months add, and writes nothing. pg_read_all_data would
-- do, too, but only a superuser may grant it, and it reads every other database of the server.
do $$
begin
  begin
    create role depositd_backup nologin;
  exception when duplicate_object or unique_violation then null;
  end;
end
$$;
grant usage on schema public, accounting to depositd_backup;
grant select on all tables in schema public, accounting to depositd_backup;
grant select on all sequences in schema public to depositd_backup;
alter default privileges in schema public, accounting grant select on tables to depositd_backup;
alter default privileges in schema public grant select on sequences to depositd_backup;

-- Servers that were made before Postgres 15 let everybody make tables here, which would stand before those of others.
revoke create on schema public from public;

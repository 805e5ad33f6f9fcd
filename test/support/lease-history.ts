/**
 * Writes down every change of a stream's lease beside the table, and every transaction that writes what only the reader
 * of a stream writes, its cursor included, whoever makes them: by the name of the session, which no lease knows of. A row
 * of a stream is locked while it is changed, so the numbers of its changes are in the order of their commits.
 */
export const keepLeaseHistory = `
  create schema history;
  create table history.lease (
    id bigint generated always as identity, at timestamptz not null, stream text not null,
    holder text, fence bigint not null, expires_at timestamptz not null, has_moved boolean not null,
    was_holder text, was_fence bigint, was_expires_at timestamptz,
    process text not null default current_setting('application_name'),
    transaction xid8 not null default pg_current_xact_id()
  );
  create table history.written (
    stream text not null, process text not null, transaction xid8 not null,
    began_at timestamptz not null, ended_at timestamptz not null, rows integer not null,
    primary key (transaction, stream)
  );
  create function history.keep_written(stream text) returns void language sql security definer as $$
    insert into history.written values (
      stream, current_setting('application_name'), pg_current_xact_id(), clock_timestamp(), clock_timestamp(), 1
    ) on conflict (transaction, stream) do update set ended_at = excluded.ended_at, rows = written.rows + 1
  $$;
  create function history.keep() returns trigger language plpgsql security definer as $$
  begin
    insert into history.lease
      (at, stream, holder, fence, expires_at, has_moved, was_holder, was_fence, was_expires_at)
    values (clock_timestamp(), new.name, new.holder, new.fence, new.expires_at,
      tg_op = 'UPDATE' and new.cursor is distinct from old.cursor, old.holder, old.fence, old.expires_at);
    if new.cursor is distinct from old.cursor then perform history.keep_written(new.name); end if;
    return null;
  end $$;
  create trigger keep after insert or update on stream for each row execute function history.keep();
  create function history.keep_row() returns trigger language plpgsql security definer as $$
  begin
    perform history.keep_written(
      case tg_table_name when 'chain_network' then 'scan/' || (to_jsonb(new) ->> 'network') else 'poll' end);
    return null;
  end $$;
  create trigger keep_row after insert or update on chain_network
    for each row execute function history.keep_row();
  create trigger keep_row after insert or update on api_record
    for each row execute function history.keep_row()`

/** What readers wrote. A record that is read alone, since a webhook tells of it, is no poll's. */
const readings = `
  select * from history.written where stream like 'scan/%' or stream = 'poll' and (rows > 1 or exists (
    select from history.lease where lease.transaction = written.transaction and lease.stream = 'poll'))`

/** Each finds what contradicts it, and so finds nothing. */
export const leaseContradictions: Readonly<Record<string, string>> = {
  'a fence never shrinks, and grows by one with each new holder': `
    select * from history.lease where stream not like 'tick/%' and was_fence is not null
      and fence <> was_fence + (holder is not null and holder is distinct from was_holder)::int`,
  'a fence has one holder, and a holder is one process': `
    select stream, fence, array_agg(distinct holder) as holders from history.lease
    where holder is not null group by stream, fence
    having count(distinct holder) > 1 or count(distinct process) > 1`,
  'a stream is taken once its lease was given back or ran out, never before': `
    select * from history.lease
    where holder <> was_holder and was_expires_at >= at`,
  'nothing is read on without a holder, nor by one that takes the stream at that moment': `
    select * from history.lease where has_moved and (holder is null or holder is distinct from was_holder)`,
  'what a scan or a poll writes is written by the process that took the stream last, and nobody has taken it since': `
    select * from (${readings}) reading where process is distinct from (
      select process from history.lease taken
      where taken.stream = reading.stream and holder is distinct from was_holder and taken.id <= (
        select max(id) from history.lease held
        where held.transaction = reading.transaction and held.stream = reading.stream)
      order by taken.id desc limit 1)`,
  'no two scans of a network, and no two polls, write at the same time': `
    select * from (
      select stream, process, began_at, max(ended_at) over (
        partition by stream order by began_at, ended_at rows between unbounded preceding and 1 preceding
      ) as before_ended_at from (${readings}) reading
    ) ordered where began_at < before_ended_at`,
  'of all schedulers one has a tick, unless it gave it back': `
    select * from (
      select stream, at, at - lag(at) over (partition by stream order by id) as pause from history.lease
      where (stream like 'tick/scan %' or stream = 'tick/sweep')
        and expires_at > '-infinity' and was_expires_at > '-infinity'
    ) tick where pause < interval '300 milliseconds'`,
}

/** By how many processes each stream was read, in how many transactions. */
export const readers = `
  select stream, count(distinct process)::int as processes, count(*)::int as transactions
  from (${readings}) reading group by stream order by stream`

/** How long each stream of a holder that is gone stood still after its lease had run out. */
export const takeovers = `
  select distinct on (stream) stream, holder, extract(epoch from at - was_expires_at)::float8 as seconds
  from history.lease where was_holder = $1 and holder <> was_holder order by stream, id`

export const holdersNow = `
  select name, holder from stream where name = any($1) and expires_at > now()`

/**
 * What the oracle keeps beside the books, in a schema of its own: what the chains and the service say themselves, and
 * a copy of every row that must never change. It is kept from one question to the next.
 */
export const tablesOfTruth = `
  create schema if not exists hold;
  -- Of which addresses and contracts a network was read; where that changes it is read anew.
  create table if not exists hold.network (
    name text primary key, watched text not null, head bigint not null, final bigint not null
  );
  create table if not exists hold.block (
    network text, height bigint, hash text not null, parent_hash text not null, primary key (network, height)
  );
  create table if not exists hold.paid (
    network text not null, height bigint not null, tx text not null, transfer text primary key,
    address text not null, asset text not null, amount numeric not null
  );
  -- Up to where the daemon had read each network before the chains were asked, so that they are never behind it.
  create table if not exists hold.cursor (network text primary key, height bigint not null);
  -- Of deposits and mismatches, where changes are watched.
  create table if not exists hold.changed (subject text not null, type text not null);
  create table if not exists hold.answered (id text primary key);
  create table if not exists hold.kept (relation text, key text, row jsonb not null, primary key (relation, key));

  create or replace view hold.standing as
    select * from public.ledger_journal as journal
    where kind <> 'reversal' and not exists (select from public.ledger_journal where reverses = journal.id);
  create or replace view hold.last_word as
    select distinct on (transfer) transfer, network, stage, height from public.chain_transfer
    where role = 'deposit' and coalesce(amount, 1) > 0 order by transfer, inbox_id desc;
  -- Payments that are final on the chain, and that the daemon has read.
  create or replace view hold.final_payment as
    select paid.* from hold.paid join hold.network on network.name = paid.network
    join hold.cursor on cursor.network = paid.network
    join public.address_book as book on book.role = 'deposit'
      and book.network = paid.network and book.address = paid.address
    where paid.height <= least(network.final, cursor.height);
`

/** What is to be run first of all. */
export const readCursors = `
  truncate hold.cursor;
  insert into hold.cursor
    select substr(name, 6), (cursor #>> '{final,height}')::bigint
    from public.stream where name like 'scan/%' and cursor is not null`

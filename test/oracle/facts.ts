import { Client } from 'pg'

/** A payment that was made, by which errors it was struck, and what must therefore be open of it in the end. */
export type PaidFact = {
  network: string
  tx: string
  address: string
  asset: string
  amount: string
  owner_kind: string
  struck: readonly string[]
  /** Kinds that must be open, at least one of them where `any_of`, and those that may be open beside them. */
  must: readonly string[]
  any_of: boolean
  may: readonly string[]
  /** Null where it may be either. */
  is_reconciled: boolean | null
}

/** A transfer that the service made because of a payment. `stray` where it paid a second time. */
export type ForwardFact = {
  kind: string
  tx: string
  network: string
  amount: string
  paid_network: string
  paid_tx: string
  paid_address: string
}

export type Facts = {
  payments: readonly PaidFact[]
  forwards: readonly ForwardFact[]
  /** Ids of the webhooks that the daemon answered by 2xx. */
  events: readonly string[]
}

/** Puts what is known to be true beside the books, for questions in SQL. This file shares no code with the product. */
export async function storeFacts(databaseUrl: string, { payments, forwards, events }: Facts): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(tables)
    await client.query(`insert into oracle.payment ${rowsOf('oracle.payment')}`, [JSON.stringify(payments)])
    await client.query(`insert into oracle.forward ${rowsOf('oracle.forward')}`, [JSON.stringify(forwards)])
    await client.query('insert into oracle.event select unnest($1::text[])', [events])
    await client.query('analyze')
  } finally {
    await client.end()
  }
}

function rowsOf(table: string): string {
  return `select * from jsonb_populate_recordset(null::${table}, $1::jsonb)`
}

const tables = `
  drop schema if exists oracle cascade;
  create schema oracle;
  create table oracle.payment (
    network text, tx text, address text, asset text, amount numeric, owner_kind text, struck text[],
    must text[], any_of boolean, may text[], is_reconciled boolean,
    primary key (network, tx, address, asset)
  );
  create table oracle.forward (
    kind text, tx text, network text, amount numeric, paid_network text, paid_tx text, paid_address text,
    primary key (network, tx)
  );
  create table oracle.event (id text primary key);
  create view oracle.unmatched as
    select mismatch.id as mismatch_id, paid_network, paid_tx, paid_address, mismatch.kind
    from mismatch join oracle.forward
      on (split_part(subject, '/', 1), split_part(subject, '/', 2), split_part(subject, '/', 3))
        = ('transfer', forward.network, forward.tx)
    where cleared_at is null and deposit_id is null;
  create view oracle.reported as
    select payment.*, deposit.id, deposit.state, coalesce(own.kinds, '{}') || coalesce(unmatched.kinds, '{}') as open
    from oracle.payment
    left join deposit on merged_into is null
      and (deposit.network, deposit.tx, deposit.address, deposit.asset)
        = (payment.network, payment.tx, payment.address, payment.asset)
    left join (
      select deposit_id, array_agg(kind) as kinds from mismatch where cleared_at is null group by deposit_id
    ) as own on own.deposit_id = deposit.id
    left join (
      select paid_network, paid_tx, paid_address, array_agg(kind) as kinds from oracle.unmatched
      group by paid_network, paid_tx, paid_address
    ) as unmatched on (paid_network, paid_tx, paid_address) = (payment.network, payment.tx, payment.address);
  create view oracle.standing as
    select * from ledger_journal as journal
    where kind <> 'reversal' and not exists (select from ledger_journal where reverses = journal.id);
`

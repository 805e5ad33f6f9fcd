/** How a column is turned into text, so that no setting of the session changes it. Bytes become their SHA-256. */
export type ColumnType = 'text' | 'time' | 'date' | 'bytes' | 'seconds'

export type Columns = Readonly<Record<string, ColumnType>>

type SealedTable = {
  /** Of one row, and of several, in messages. */
  names: readonly [one: string, several: string]
  id: string
  /** The column with the time of writing. */
  writtenAt: string
  columns: Columns
  /** Of a table with at most one row for each row of this one. */
  joined?: { table: string; by: string; columns: Columns }
  /** Of a table with rows that are parts of a row of this one, by SQL in order. */
  lines?: { table: string; by: string; order: string; columns: Columns }
}

/** Each table whose rows are leaves of the log, with all of its columns, in hashing order. */
const sealedTables = {
  inbox: {
    names: ['inbox row', 'inbox rows'],
    id: 'id',
    writtenAt: 'stored_at',
    columns: {
      id: 'text',
      source: 'text',
      source_key: 'text',
      service: 'text',
      body: 'bytes',
      headers: 'text',
      received_at: 'time',
      stored_at: 'time',
    },
  },
  ledger_journal: {
    names: ['journal', 'journals'],
    id: 'id',
    writtenAt: 'recorded_at',
    columns: {
      id: 'text',
      posting_key: 'text',
      kind: 'text',
      deposit_id: 'text',
      transfer: 'text',
      reverses: 'text',
      event_at: 'time',
      recorded_at: 'time',
      period: 'date',
    },
    joined: {
      table: 'manual_journal',
      by: 'journal_id',
      columns: { decision_id: 'text', reason: 'text', made_by: 'text', approved_by: 'text' },
    },
    lines: {
      table: 'ledger_transfer',
      by: 'journal_id',
      order: 'leg, recorded_at',
      columns: {
        leg: 'text',
        debit: 'text',
        credit: 'text',
        asset: 'text',
        amount: 'text',
        event_at: 'time',
        recorded_at: 'time',
        period: 'date',
      },
    },
  },
  credit_safety: {
    names: ['credit safety', 'credit safeties'],
    id: 'id',
    writtenAt: 'at',
    columns: {
      id: 'text',
      deposit_id: 'text',
      number: 'text',
      action: 'text',
      journal_id: 'text',
      account: 'text',
      asset: 'text',
      amount: 'text',
      height: 'text',
      block_hash: 'text',
      final_at: 'time',
      reason: 'text',
      at: 'time',
    },
  },
  mismatch_event: {
    names: ['mismatch event', 'mismatch events'],
    id: 'id',
    writtenAt: 'at',
    columns: {
      id: 'text',
      mismatch_id: 'text',
      at: 'time',
      actor: 'text',
      action: 'text',
      text: 'text',
      approved_by: 'text',
      decision_id: 'text',
      before: 'text',
      after: 'text',
      undoes: 'text',
      mentions: 'text',
    },
  },
  mismatch_attachment: {
    names: ['attachment', 'attachments'],
    id: 'id',
    writtenAt: 'at',
    columns: {
      id: 'text',
      mismatch_id: 'text',
      name: 'text',
      content: 'bytes',
      sha256: 'text',
      added_by: 'text',
      at: 'time',
    },
  },
  ledger_period_event: {
    names: ['period event', 'period events'],
    id: 'id',
    writtenAt: 'at',
    columns: {
      id: 'text',
      period: 'date',
      action: 'text',
      at: 'time',
      decision_id: 'text',
      actor: 'text',
      approved_by: 'text',
      reason: 'text',
      severe_open: 'text',
      forced: 'text',
      last_journal: 'text',
      cut_at: 'time',
      sha256: 'text',
    },
    lines: {
      table: 'ledger_period_balance',
      by: 'event_id',
      order: 'account collate "C", asset collate "C"',
      columns: { account: 'text', asset: 'text', debit: 'text', credit: 'text' },
    },
  },
  decision: {
    names: ['decision', 'decisions'],
    id: 'id',
    writtenAt: 'requested_at',
    columns: {
      id: 'text',
      uuid: 'text',
      kind: 'text',
      people: 'text',
      text: 'text',
      requested_at: 'time',
    },
  },
  decision_event: {
    names: ['decision event', 'decision events'],
    id: 'id',
    writtenAt: 'at',
    columns: {
      id: 'text',
      decision_id: 'text',
      action: 'text',
      person: 'text',
      signature: 'text',
      reason: 'text',
      at: 'time',
    },
  },
  access_event: {
    names: ['access event', 'access events'],
    id: 'id',
    writtenAt: 'at',
    columns: { id: 'text', person: 'text', action: 'text', detail: 'text', login: 'text', at: 'time' },
  },
  owner: {
    names: ['owner', 'owners'],
    id: 'number',
    writtenAt: 'added_at',
    columns: {
      number: 'text',
      kind: 'text',
      id: 'text',
      forward_network: 'text',
      forward_asset: 'text',
      forward_recipient: 'text',
      created_at: 'time',
      added_at: 'time',
      added_by: 'text',
      approved_by: 'text',
      decision_id: 'text',
    },
  },
  address_book: {
    names: ['address', 'addresses'],
    id: 'id',
    writtenAt: 'added_at',
    columns: {
      id: 'text',
      network: 'text',
      address: 'text',
      role: 'text',
      owner_kind: 'text',
      owner_id: 'text',
      added_at: 'time',
      added_by: 'text',
      approved_by: 'text',
      valid_from: 'time',
      decision_id: 'text',
    },
  },
  address_end: {
    names: ['end of an address', 'ends of addresses'],
    id: 'id',
    writtenAt: 'at',
    columns: {
      id: 'text',
      address_id: 'text',
      valid_until: 'time',
      reason: 'text',
      ended_by: 'text',
      approved_by: 'text',
      decision_id: 'text',
      at: 'time',
    },
  },
  price: {
    names: ['price', 'prices'],
    id: 'id',
    writtenAt: 'imported_at',
    columns: {
      id: 'text',
      asset: 'text',
      currency: 'text',
      at: 'time',
      price: 'text',
      source: 'text',
      imported_at: 'time',
    },
  },
  rule_set: {
    names: ['rule set', 'rule sets'],
    id: 'id',
    writtenAt: 'since',
    columns: {
      id: 'text',
      rules: 'text',
      since: 'time',
      requested_by: 'text',
      approved_by: 'text',
      decision_id: 'text',
    },
  },
  opening_lot: {
    names: ['lot of an opening', 'lots of an opening'],
    id: 'id',
    writtenAt: 'recorded_at',
    columns: {
      id: 'text',
      journal_id: 'text',
      account: 'text',
      asset: 'text',
      acquired_at: 'time',
      units: 'text',
      cost: 'text',
      currency: 'text',
      recorded_at: 'time',
    },
  },
  valuation_rule: {
    names: ['valuation rule', 'valuation rules'],
    id: 'id',
    writtenAt: 'since',
    columns: {
      id: 'text',
      currency: 'text',
      max_age: 'seconds',
      own_accounts: 'text',
      method: 'text',
      pool: 'text',
      since: 'time',
    },
  },
} as const satisfies Record<string, SealedTable>

export type SealedTableName = keyof typeof sealedTables

export const sealedTableNames = Object.keys(sealedTables) as readonly SealedTableName[]

export function sealedTable(table: SealedTableName): SealedTable {
  return sealedTables[table]
}

/** A column of a table for people, printed or shown in a browser. */
export type TableColumn<Row> = { title: string; of: (row: Row) => string; align?: 'right' }

-- Run once, by the postgres image, when the database is first made: a login for accountants and for Grafana.
-- What it may read is granted to depositd_accountant by depositd's own migrations; both make that role if it is
-- not there. On a server that exists already, run it by hand with psql.
\set password `cat /run/secrets/accountant_password`
create role depositd_accountant nologin;
create role accountant login password :'password' connection limit 10 in role depositd_accountant;
alter role accountant set search_path = accounting;
alter role accountant set default_transaction_read_only = on;
alter role accountant set statement_timeout = '30s';

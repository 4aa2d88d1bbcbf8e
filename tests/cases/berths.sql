-- The tables of the cases that name a MySQL database, as SQLite has them.
CREATE TABLE berth_visit (
  visit_no INTEGER PRIMARY KEY, ship_tag TEXT, berth_code TEXT, tonnage DECIMAL(10,2), arrived_at DATETIME,
  left_at DATETIME, cleared INTEGER, note TEXT
);
INSERT INTO berth_visit VALUES
 (1,'GULL',  'A1', 1200.50,'2024-02-01 08:00:00','2024-02-02 09:30:00',1,'plain'),
 (2,'TERN',  'A2',  980.00,'2024-02-01 10:15:00',NULL,                 0,NULL),
 (3,'PETREL','B1',15000.25,'2024-02-02 00:00:00','2024-02-05 12:00:00',1,'has, comma'),
 (4,'AUK',   'B1',    0.00,'2024-02-03 23:59:59',NULL,                 1,'quote " and tab' || char(9) || 'here'),
 (5,'IBIS',  'C3',   77.10,'2024-02-29 12:00:00','2024-03-01 00:00:00',0,'第二泊位'),
 (6,'SKUA',  'A1',  431.00,'2024-03-01 06:00:00',NULL,                 1,'');
CREATE TABLE shard_all (visit_no INTEGER PRIMARY KEY, ship_tag TEXT);

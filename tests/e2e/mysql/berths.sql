-- Fixture for the cases that name a MySQL/MariaDB source. Schema ts_cases, invented data only.
DROP TABLE IF EXISTS berth_visit, berth_visit_copy, `tide-log`, `tide-log-copy`,
  shard_00, shard_01, shard_02, shard_03, shard_extra, shard_all;
CREATE TABLE berth_visit (
  visit_no   BIGINT PRIMARY KEY,
  ship_tag   VARCHAR(32),
  berth_code VARCHAR(8),
  tonnage    DECIMAL(10,2),
  arrived_at DATETIME,
  left_at    DATETIME NULL,
  cleared    TINYINT(1),
  note       VARCHAR(200)
);
INSERT INTO berth_visit VALUES
 (1,'GULL',  'A1', 1200.50,'2024-02-01 08:00:00','2024-02-02 09:30:00',1,'plain'),
 (2,'TERN',  'A2',  980.00,'2024-02-01 10:15:00',NULL,                 0,NULL),
 (3,'PETREL','B1',15000.25,'2024-02-02 00:00:00','2024-02-05 12:00:00',1,'has, comma'),
 (4,'AUK',   'B1',    0.00,'2024-02-03 23:59:59',NULL,                 1,'quote " and tab\there'),
 (5,'IBIS',  'C3',   77.10,'2024-02-29 12:00:00','2024-03-01 00:00:00',0,'第二泊位'),
 (6,'SKUA',  'A1',  431.00,'2024-03-01 06:00:00',NULL,                 1,'');
CREATE TABLE berth_visit_copy LIKE berth_visit;
CREATE TABLE `tide-log` (`when` DATETIME PRIMARY KEY, `level cm` INT, `观测员` VARCHAR(20));
INSERT INTO `tide-log` VALUES ('2024-02-01 00:00:00',31,'甲'),('2024-02-01 06:00:00',212,'乙');
CREATE TABLE `tide-log-copy` LIKE `tide-log`;
CREATE TABLE shard_00 (visit_no BIGINT PRIMARY KEY, ship_tag VARCHAR(32));
CREATE TABLE shard_01 LIKE shard_00; CREATE TABLE shard_02 LIKE shard_00;
CREATE TABLE shard_03 LIKE shard_00; CREATE TABLE shard_extra LIKE shard_00; CREATE TABLE shard_all LIKE shard_00;
INSERT INTO shard_00 VALUES (1,'s0a'),(2,'s0b');
INSERT INTO shard_01 VALUES (11,'s1a');
INSERT INTO shard_02 VALUES (21,'s2a'),(22,'s2b'),(23,'s2c');
INSERT INTO shard_extra VALUES (31,'xa');
